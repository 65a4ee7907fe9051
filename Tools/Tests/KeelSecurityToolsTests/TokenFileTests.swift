#if os(Linux) || os(macOS)
import Foundation
import KeelSecurity
import KeelSecurityTools
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Files of tokens")
struct TokenFileTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private static func hash(_ token: String) -> String { SecurityService().hash(Data(token.utf8)) }

    private func file(_ text: String, mode: Int = 0o600) throws -> String {
        let path = try scratch.file("tokens", holding: text).path
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test("A token is that of the caller in whose line its hash is")
    func names() throws {
        let text = """
            # The callers of the shop
            ann \(Self.hash("one"))

              ann\t\(Self.hash("two").uppercased())  # her next token
            bob \(Self.hash("three"))
            """
        let tokens = try TokenFile(file(text, mode: 0o644))
        #expect(tokens.name(of: "one") == "ann")
        #expect(tokens.name(of: "two") == "ann")
        #expect(tokens.name(of: "three") == "bob")
        for token in ["", "One", "one ", Self.hash("one")] {
            #expect(tokens.name(of: token) == nil)
        }
    }

    @Test(
        "A line of another form is refused without its text",
        arguments: ["ann", "ann hunter2", "ann \(String(repeating: "g", count: 64))"]
    )
    func malformed(line: String) throws {
        let path = try file("# callers\n\(line)\n")
        let error = #expect(throws: ToolError.self) { try TokenFile(path) }
        #expect(error?.message.contains("line 2") == true)
        #expect(error?.message.contains("hunter2") == false)
        #expect(error?.advice.contains("sha256sum") == true)
    }

    @Test("A file without a token, and a token of two callers, are refused")
    func empty() throws {
        for text in ["", "# nobody\n"] {
            let path = try file(text)
            let error = #expect(throws: ToolError.self) { try TokenFile(path) }
            #expect(error?.message.contains("lists no token") == true)
        }
        let path = try file("ann \(Self.hash("one"))\nbob \(Self.hash("one"))\n")
        let error = #expect(throws: ToolError.self) { try TokenFile(path) }
        #expect(error?.message.contains("line 1 and in line 2") == true)
    }

    @Test("The hash of an empty token is refused, as of a variable that is not set")
    func emptyToken() throws {
        let path = try file("ann \(Self.hash("one"))\nbob \(Self.hash(""))\n")
        let error = #expect(throws: ToolError.self) { try TokenFile(path) }
        #expect(error?.message.contains("line 2, has the SHA-256 of an empty token") == true)
    }

    @Test("A file of another system's editor has the same callers")
    func encoding() throws {
        let text = "\u{FEFF}ann \(Self.hash("one"))\r\n# next\r\nbob \(Self.hash("two"))\r\n"
        let tokens = try TokenFile(file(text))
        #expect(tokens.name(of: "one") == "ann")
        #expect(tokens.name(of: "two") == "bob")
        let comment = try TokenFile(file("\u{FEFF}# callers\nann \(Self.hash("one"))\n"))
        #expect(comment.name(of: "one") == "ann")
    }

    @Test("A file that others can write is refused", arguments: [0o620, 0o602, 0o666])
    func writable(mode: Int) throws {
        let path = try file("ann \(Self.hash("one"))\n", mode: mode)
        let error = #expect(throws: ToolError.self) { try TokenFile(path) }
        #expect(error?.advice.contains("chmod go-w") == true)
    }

    @Test("A link to a file is followed, and anything but a file is refused")
    func links() throws {
        let path = try file("ann \(Self.hash("one"))\n")
        let link = scratch.file("link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try TokenFile(link).name(of: "one") == "ann")
        for other in [scratch.folder.path, scratch.file("missing").path] {
            let error = #expect(throws: ToolError.self) { try TokenFile(other) }
            #expect(error?.message.contains("cannot be read") == true)
        }
    }
}
#endif
