import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A way to the server that can be cut. */
class Relay implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0);
    private final List<Socket> open = new CopyOnWriteArrayList<>();

    Relay(String address) throws IOException {
        int colon = address.lastIndexOf(':');
        inBackground(() -> {
            for (;;) {
                var client = listener.accept();
                var server = new Socket(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
                open.addAll(List.of(client, server));
                pump(client, server);
                pump(server, client);
            }
        });
    }

    String address() {
        return "127.0.0.1:" + listener.getLocalPort();
    }

    /** Breaks what is connected; the next connection is served. */
    void cut() throws IOException {
        for (var socket : open) {
            socket.close();
        }
        open.clear();
    }

    public void close() throws IOException {
        listener.close();
        cut();
    }

    private static void pump(Socket from, Socket to) {
        inBackground(() -> {
            try (from; to) {
                from.getInputStream().transferTo(to.getOutputStream());
            }
        });
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void inBackground(Work work) {
        new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // the way was cut
            }
        }).start();
    }
}
