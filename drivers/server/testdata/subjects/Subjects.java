import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import javax.security.auth.x500.X500Principal;

/** Writes subjects of certificates as text, and says which texts are subjects. */
public class Subjects {
    public static void main(String[] args) throws Exception {
        var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null;) {
            byte[] bytes = HexFormat.of().parseHex(line.substring(1));
            if (line.charAt(0) == 'd') {
                out.println(new X500Principal(bytes).getName());
                continue;
            }
            try {
                new X500Principal(new String(bytes, StandardCharsets.UTF_8));
                out.println("valid");
            } catch (IllegalArgumentException e) {
                out.println("invalid");
            }
        }
    }
}
