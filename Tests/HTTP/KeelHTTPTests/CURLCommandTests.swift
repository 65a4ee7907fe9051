import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("curl commands", .timeLimit(.minutes(2)))
struct CURLCommandTests {
    /// Runs a command with a `curl` that records its arguments and its input.
    private func run(_ command: String, shell: String) throws -> [[UInt8]] {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = """
            #!/bin/sh
            for argument in "$@"; do printf '%s\\0' "$argument"; done > '\(folder.path)/arguments'
            cat > '\(folder.path)/input'
            """
        let curl = folder.appending(path: "curl")
        try Data(script.utf8).write(to: curl)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: curl.path)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: shell)
        process.arguments = ["-c", command]
        process.environment = ["PATH": "\(folder.path):/usr/bin:/bin"]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let arguments = try Data(contentsOf: folder.appending(path: "arguments"))
        let input = try Data(contentsOf: folder.appending(path: "input"))
        return arguments.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { Array($0) } + [Array(input)]
    }

    private func request(
        _ method: HTTPRequest.Method = .post,
        _ path: String = "/a",
        _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest("https://example.org\(path)", method, fields)
    }

    @Test(
        "curl receives every header field and body unchanged",
        arguments: ["/bin/sh", "/bin/bash"],
        [
            "plain", "it's", "''", "$(touch x) `id` \\ ! \"q\"", "a\nb\tc", "日本 é", "-x",
            "#no; rm *",
            "{[1-2]}", "%s%n", "trailing\\", "a'\u{301}; exit 1 #", "'\u{301}'",
        ]
    )
    func quoting(shell: String, text: String) throws {
        let name = try #require(HTTPField.Name("X-Note"))
        let value = text.replacing("\n", with: " ").replacing("\t", with: " ")
        let command = CURLCommand(
            request(.post, "/a?b={\(text.utf8.count)}", [name: value, .contentType: "text/plain"]),
            body: Array(text.utf8),
            redactor: nil
        )
        for style in [CURLCommand.Style.singleLine, .multiline] {
            let words = try run(command.text(style), shell: shell)
            let texts = words.map { String(decoding: $0, as: UTF8.self) }
            #expect(texts.prefix(3) == ["--request", "POST", "--header"])
            #expect(texts.contains("X-Note: \(value)"))
            #expect(texts.contains("--globoff"))
            #expect(texts.dropLast().last == "https://example.org/a?b={\(text.utf8.count)}")
            if texts.contains("--data-raw") {
                #expect(texts.contains(text))
            } else {
                #expect(texts.contains("--data-binary"))
                #expect(words.last == Array(text.utf8))
            }
        }
        #expect(!command.text(.singleLine).contains("\n"))
    }

    @Test("All bytes of a body are included", arguments: ["/bin/sh", "/bin/bash"])
    func binary(shell: String) throws {
        let bytes = (0...255).map { UInt8($0) } + Array("01234567".utf8)
        let command = CURLCommand(request(), body: bytes, redactor: nil)
        let words = try run(command.description, shell: shell)
        #expect(words.last == bytes)
        #expect(words.contains(Array("Content-Type:".utf8)))
    }

    @Test("Secrets are included only on request")
    func redacted() throws {
        let head = request(
            .put,
            "/a?key=s3cret",
            [.authorization: "Bearer s3cret", .contentType: "application/json"]
        )
        let body = Array(#"{"password":"s3cret","page":2}"#.utf8)
        let shown = CURLCommand(head, body: body).description
        #expect(
            shown
                == "curl --request PUT --header 'Authorization: <redacted>' "
                + "--header 'Content-Type: application/json' "
                + #"--data-raw '{"password":"<redacted>","page":2}' "#
                + "'https://example.org/a?key=redacted'"
        )
        #expect(CURLCommand(head, body: body, redactor: nil).description.contains("Bearer s3cret"))
    }

    @Test("Omitted parts are stated")
    func omitted() async throws {
        #expect(
            CURLCommand(request(), body: [0, 1], redactor: .standard).description
                == "curl --request POST https://example.org/a # without its body: "
                + "2 bytes of unknown content"
        )
        let stream = HTTPBody(length: 9, isReplayable: false) { () async throws(TransportError) in
            .empty
        }
        #expect(CURLCommand(HTTPCall(request(), body: stream)).description.hasSuffix("9 bytes"))
        let long = [UInt8](repeating: 0x61, count: CURLCommand.bodyLimit + 1)
        #expect(CURLCommand(request(), body: long).description.hasSuffix("32769 bytes"))
    }

    @Test("Simple requests produce a short command, which can be split into lines")
    func layouts() {
        #expect(CURLCommand(request(.get)).description == "curl https://example.org/a")
        #expect(CURLCommand(request(.head)).description == "curl --head https://example.org/a")
        let command = CURLCommand(request(.get, "/a", [.accept: "*/*"])).text(.multiline)
        #expect(command == "curl \\\n  --header 'Accept: */*' \\\n  https://example.org/a")
        let cookies = request(.get, "/a", [.cookie: "a=1", .cookie: "b=2"])
        #expect(
            CURLCommand(cookies, redactor: nil).description
                == "curl --header 'Cookie: a=1; b=2' https://example.org/a"
        )
    }
}
