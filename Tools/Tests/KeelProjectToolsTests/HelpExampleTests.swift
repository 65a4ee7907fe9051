#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("Examples in the help of the command line")
struct HelpExampleTests {
    /// A command, as `--experimental-dump-help` describes it.
    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable { let name: String }
            let names: [Name]?
        }

        let commandName: String
        let discussion: String?
        let arguments: [Argument]?
        let subcommands: [Command]?

        var options: Set<String> { Set((arguments ?? []).flatMap { $0.names ?? [] }.map(\.name)) }

        /// The lines that are set off and have a call of keel.
        var examples: [String] {
            (discussion ?? "").split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix("    ") && $0.contains("keel ") }
        }

        var all: [Command] { [self] + (subcommands ?? []).flatMap(\.all) }
    }

    private struct Help: Decodable { let command: Command }

    private static let keel: Result<Command, any Error> = Result {
        let text = try KeelProcess(["--experimental-dump-help"]).wait().output
        return try JSONDecoder().decode(Help.self, from: Data(text.utf8)).command
    }

    @Test("Each command has one")
    func presence() throws {
        let commands = try Self.keel.get().subcommands ?? []
        #expect(commands.count > 12)
        for command in commands where !["help", "lint", "config"].contains(command.commandName) {
            #expect(!command.examples.isEmpty, "\(command.commandName)")
        }
    }

    @Test("Each command has --json, except servers and those that pass on another's output")
    func json() throws {
        let others: Set = ["help", "lint", "serve", "proxy", "statements"]
        for command in try Self.keel.get().all
        where (command.subcommands ?? []).isEmpty && !others.contains(command.commandName) {
            #expect(command.options.contains("json"), "\(command.commandName)")
        }
    }

    @Test("Their commands and options exist")
    func names() throws {
        let keel = try Self.keel.get()
        for example in keel.all.flatMap(\.examples) {
            let call = try #require(example.split(separator: "keel ", maxSplits: 1).last)
            var words = call.prefix { !"|<>".contains($0) }.split(separator: " ")[...]
            var command = keel
            while let word = words.first,
                let next = command.subcommands?.first(where: { $0.commandName == word })
            {
                command = next
                words.removeFirst()
            }
            #expect(command.commandName != "keel", "\(example)")
            // Behind -- stands another program's command line.
            for word in words.prefix(while: { $0 != "--" }) where word.hasPrefix("-") {
                let name = String(word.drop { $0 == "-" })
                #expect(name.isEmpty || command.options.contains(name), "\(word) of \(example)")
            }
        }
    }
}
#endif
