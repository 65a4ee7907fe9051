import Foundation
import Testing

/// nginx in front of three servers, with the settings of Documentation/PostgreSQL.md, but without TLS.
final class NginxProxy {
    static let program = ["/usr/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static let absence: Comment = "SKIPPED: there is no nginx here; see Scripts/setup.sh"

    let port: Int
    /// The port for HTTP/2, which nginx tells from HTTP/1.1 only by TLS.
    let portHTTP2: Int
    private let folder: URL
    private let process = Process()

    /// Starts nginx; it may not listen yet.
    init(before ports: [Int]) async throws {
        port = try await FreePort.find()
        portHTTP2 = try await FreePort.find()
        folder = .temporaryDirectory.appending(path: "keel-nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/temp;" }.joined(separator: " ")
        var settings = try Self.documented()
        for (number, port) in ports.enumerated() {
            settings.replace("127.0.0.1:\(8081 + number)", with: "127.0.0.1:\(port)")
        }
        settings.replace(
            "listen 443 ssl http2;",
            with: "listen 127.0.0.1:\(port); listen 127.0.0.1:\(portHTTP2) http2;"
        )
        let configuration = """
            daemon off; master_process off; pid \(folder.path)/nginx.pid;
            events {}
            http { access_log off; \(temporary)
            \(settings)
            }
            """
        let file = folder.appending(path: "nginx.conf")
        try Data(configuration.utf8).write(to: file)
        process.executableURL = URL(filePath: try #require(Self.program))
        process.arguments = ["-p", folder.path, "-e", folder.path + "/error.log", "-c", file.path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    func stop() {
        // A process that Foundation starts may ignore SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// The settings in the documentation, for servers on the ports from 8081 on.
    private static func documented() throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../../../Documentation/PostgreSQL.md")
        let text = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        let start = try #require(text.firstRange(of: "```nginx\n")).upperBound
        let end = try #require(text[start...].firstRange(of: "```")).lowerBound
        return text[start..<end].split(separator: "\n").filter { !$0.contains("ssl_certificate") }
            .joined(separator: "\n")
    }
}
