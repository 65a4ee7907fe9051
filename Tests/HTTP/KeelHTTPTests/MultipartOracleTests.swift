import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

/// Tests that use Python's parsers of multipart bodies as independent oracles.
@Suite("Multipart forms parsed by Python")
struct MultipartOracleTests {
    private static func runs(_ program: String) -> Bool {
        (try? run(program, input: []))?.status == 0
    }

    private static let hasPython = runs("import email")
    private static let hasWerkzeug = runs("import werkzeug.formparser")

    private static func run(
        _ program: String,
        input: [UInt8]
    ) throws -> (status: Int32, output: Data) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program]
        let folder = try TemporaryFolder()
        let file = try folder.file("input", input)
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }

    private func body() async throws -> (type: String, bytes: [UInt8]) {
        struct Add: Endpoint {
            typealias Response = EmptyResponse
            var path: EndpointPath { "/x" }
        }
        let folder = try TemporaryFolder()
        let file = try folder.file("größe 1.bin", TemporaryFolder.bytes(100_000))
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let form = MultipartForm([
            .text("title", "Holidays"), .json("tags", ["sea", "sun"]),
            .bytes("raw", [0, 13, 10, 45, 45, 255], filename: "a.bin"), .file("photo", at: file),
        ])
        _ = try await makeClient(transport).upload(.multipart(form), to: Add())
        let call = try #require(transport.calls.first)
        return (try #require(call.head.headerFields[.contentType]), call.body)
    }

    private static let expected = [
        "title||486f6c6964617973", "tags||5b22736561222c2273756e225d", "raw|a.bin|000d0a2d2dff",
        "photo|größe 1.bin|" + Hexadecimal.text(of: TemporaryFolder.bytes(100_000)),
    ]

    @Test("email.parser", .enabled(if: hasPython, "python3 is not on the path"))
    func readsWithEmail() async throws {
        let (type, bytes) = try await body()
        let program = """
            import sys, email.parser, email.policy
            data = sys.stdin.buffer.read()
            message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(data)
            assert not message.defects, message.defects
            for part in message.iter_parts():
                assert not part.defects, part.defects
                name = part.get_param('name', header='content-disposition')
                text = f"{name}|{part.get_filename() or ''}|{part.get_payload(decode=True).hex()}"
                sys.stdout.buffer.write(text.encode() + b"\\n")
            """
        let (status, output) = try Self.run(
            program,
            input: Array("Content-Type: \(type)\r\n\r\n".utf8) + bytes
        )
        #expect(status == 0)
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines == Self.expected)
    }

    @Test("werkzeug.formparser", .enabled(if: hasWerkzeug, "Python's werkzeug is not installed"))
    func readsWithWerkzeug() async throws {
        let (type, bytes) = try await body()
        let program = """
            import sys, io
            from werkzeug.formparser import parse_form_data
            data = sys.stdin.buffer.read()
            kind = data.split(b"\\n", 1)[0].decode()
            data = data.split(b"\\n", 1)[1]
            environ = {"wsgi.input": io.BytesIO(data), "CONTENT_LENGTH": str(len(data)),
                       "CONTENT_TYPE": kind, "REQUEST_METHOD": "POST"}
            stream, form, files = parse_form_data(environ)
            lines = [f"{k}||{v.encode().hex()}" for k, v in form.items(multi=True)]
            lines += [f"{k}|{f.filename}|{f.read().hex()}" for k, f in files.items(multi=True)]
            sys.stdout.buffer.write("\\n".join(lines).encode())
            """
        let (status, output) = try Self.run(program, input: Array("\(type)\n".utf8) + bytes)
        #expect(status == 0)
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines == Self.expected)
    }
}
