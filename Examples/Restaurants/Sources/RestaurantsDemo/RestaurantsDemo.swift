import Foundation

/// The program of the demonstration.
@main
struct RestaurantsDemo {
    private static let help = """
        Shows the Restaurants app running: a service, two instances of the app on one file, a user
        who signs in, live changes between the two, and what works when the service is gone: reading,
        and writing, which the service learns of when it is back.

        USAGE: restaurants-demo [--data FILE] [--server FILE] [--postgresql FILE] [--interactive]

          --data FILE      The restaurants to serve, as JSON Lines; without it, the example's own.
          --server FILE    The file to which the path of `keel`, the server, is written when it is
                           compiled; without it, `keel` stands beside this program.
          --postgresql FILE
                           A script that runs a PostgreSQL server and prints its port, such as
                           Scripts/postgresql.sh; without it, the last step is left out.
          --interactive    Leaves everything running at the end, for you to use.

        Exits with 0 only if every step held, with 64 when it was not understood.
        """

    static func main() async {
        var arguments = CommandLine.arguments.dropFirst()
        var (data, server, isInteractive): (String?, String?, Bool) = (nil, nil, false)
        var postgreSQL: String?
        while let option = arguments.popFirst() {
            switch option {
            case "--help", "-h":
                Terminal.show(help)
                return
            case "--interactive": isInteractive = true
            case "--data":
                guard let file = arguments.popFirst() else { fail("--data needs a file.") }
                data = file
            case "--server":
                guard let file = arguments.popFirst() else { fail("--server needs a file.") }
                server = file
            case "--postgresql":
                guard let file = arguments.popFirst() else { fail("--postgresql needs a file.") }
                postgreSQL = file
            default: fail("“\(option)” is not understood. See restaurants-demo --help.")
            }
        }
        do {
            let setting = try Setting(data: data, server: server, postgreSQL: postgreSQL)
            let hasHeld = await run(setting, isInteractive: isInteractive)
            setting.cleanUp()
            exit(hasHeld ? 0 : 1)
        } catch {
            Terminal.show("✗ \(error)")
            exit(1)
        }
    }

    /// Runs the demonstration until it ends or Ctrl-C is pressed.
    private static func run(_ setting: Setting, isInteractive: Bool) async -> Bool {
        let signals = SignalWaiter()
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                let demonstration = Demonstration(setting)
                let hasHeld = await demonstration.run()
                if hasHeld, isInteractive { await demonstration.stayOpen() }
                await demonstration.end()
                return hasHeld
            }
            group.addTask {
                await signals.wait()
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            // Waits until the demonstration has ended its processes.
            let second = await group.next() ?? false
            return first || (isInteractive && second)
        }
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("error: \(message)\n".utf8))
        exit(64)
    }
}
