#if os(Linux) || os(macOS)
import Foundation
import KeelToolsTestSupport
import Testing

@Suite("Completions of the command line")
struct CompletionTests {
    /// The names of options and arguments that are paths.
    private static let paths: Set = [
        "bad-lines", "checkpoint", "file", "files", "first", "folder", "from", "identity", "in",
        "indexes", "keel", "key-file", "keyset", "new-key-file", "output", "paths",
        "recipients-file", "second", "signature", "storage", "store", "tls-certificate", "tls-key",
        "to", "to-key-file", "tokens",
    ]
    /// Arguments of these names that are none: the name of a flush’s format.
    private static let others: Set = ["keel analytics flush to"]

    private func arguments(
        of command: [String: Any],
        in path: String
    ) -> [(place: String, argument: [String: Any])] {
        let path = "\(path)\(command["commandName"] as? String ?? "")"
        let own = (command["arguments"] as? [[String: Any]] ?? []).map { argument in
            let names = argument["names"] as? [[String: Any]]
            let long = names?.compactMap { $0["name"] as? String }.max { $0.count < $1.count }
            let name = long ?? argument["valueName"] as? String ?? ""
            return ("\(path) \(name)", argument)
        }
        let below = command["subcommands"] as? [[String: Any]] ?? []
        return own + below.flatMap { arguments(of: $0, in: "\(path) ") }
    }

    @Test("Every option and argument that is a path is completed")
    func paths() throws {
        let text = try KeelProcess(["--experimental-dump-help"]).wait().output
        let help = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let all = arguments(of: try #require(help?["command"] as? [String: Any]), in: "")
        let found = all.filter { place, argument in
            let name = place.split(separator: " ").last.map(String.init) ?? ""
            return argument["kind"] as? String != "flag" && Self.paths.contains(name)
                && !Self.others.contains(place)
        }
        #expect(found.count > 60)
        for (place, argument) in found { #expect(argument["completionKind"] != nil, "\(place)") }
    }
}
#endif
