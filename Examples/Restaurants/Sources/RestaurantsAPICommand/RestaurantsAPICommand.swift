import Foundation
import RestaurantsAPI

/// The program of the restaurant service.
@main
struct RestaurantsAPICommand {
    private static let help = """
        Serves restaurants as JSON on this machine.

        USAGE: restaurants-api --data FILE [--port N] [--hiccups]

          --data FILE   Restaurants as JSON Lines: one JSON object a line.
          --port N      The port; 0, unless said otherwise, takes one that is free.
          --hiccups     Lets the first request of each kind go wrong, to show how a client copes.

        Prints its address once it can be used, then one line for each write, with what became of
        it, and serves until it is ended.
        Exits with 1 when it cannot serve, with 64 when it was not understood.
        """

    static func main() async {
        var arguments = CommandLine.arguments.dropFirst()
        var (data, port, hasHiccups): (String?, Int, Bool) = (nil, 0, false)
        while let option = arguments.popFirst() {
            switch option {
            case "--help", "-h":
                write(help, to: .standardOutput)
                return
            case "--hiccups": hasHiccups = true
            case "--data":
                guard let file = arguments.popFirst() else { fail("--data needs a file.", 64) }
                data = file
            case "--port":
                guard let number = arguments.popFirst().flatMap(Int.init),
                    (0...65_535).contains(number)
                else { fail("--port needs a number from 0 to 65535.", 64) }
                port = number
            default:
                fail("“\(option)” is not understood. See restaurants-api --help.", 64)
            }
        }
        guard let data else { fail("--data FILE is missing. See restaurants-api --help.", 64) }
        await serve(data, port, hasHiccups)
    }

    private static func serve(_ data: String, _ port: Int, _ hasHiccups: Bool) async {
        do {
            let catalogue = try RestaurantCatalogue(contentsOf: URL(fileURLWithPath: data))
            let server = RestaurantAPIServer(catalogue, hasHiccups: hasHiccups) {
                write($0, to: .standardOutput)
            }
            try await server.run(port: port) { port in
                write(
                    "Serving \(catalogue.count) restaurants on http://127.0.0.1:\(port)",
                    to: .standardOutput
                )
            }
        } catch {
            let advice = (error as? any LocalizedError)?.recoverySuggestion
            fail([error.localizedDescription, advice].compactMap { $0 }.joined(separator: "\n"), 1)
        }
    }

    private static func fail(_ message: String, _ code: Int32) -> Never {
        write("error: \(message)", to: .standardError)
        exit(code)
    }

    /// Writes without buffering, because another process may wait for the address.
    private static func write(_ text: String, to file: FileHandle) {
        file.write(Data("\(text)\n".utf8))
    }
}
