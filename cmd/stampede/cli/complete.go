package cli

import "github.com/spf13/cobra"

// Complete suggests a flag's values. It skips a command without a name, which is never typed: cobra
// would keep its flags forever.
func Complete(cmd *cobra.Command, flag string, values func() []string) {
	if cmd.Use == "" {
		return
	}
	suggest := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, suggest); err != nil {
		panic(err) // the flag exists and has no completion yet
	}
}
