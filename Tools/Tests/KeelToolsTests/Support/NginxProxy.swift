import Foundation
import NIOCore
import NIOPosix
import Testing

/// nginx in front of several servers, which it asks in turn.
final class NginxProxy {
    static let program = ["/usr/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static let absence: Comment = "SKIPPED: there is no nginx here; see Scripts/setup.sh"

    let port: Int
    private let folder: URL
    private let process = Process()

    /// Starts nginx; it may not listen yet.
    init(before ports: [Int]) async throws {
        port = try await Self.freePort()
        folder = .temporaryDirectory.appending(path: "keel-nginx-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/temp;" }.joined(separator: " ")
        let servers = ports.map { "server 127.0.0.1:\($0) fail_timeout=1s;" }
        // The settings of Documentation/PostgreSQL.md.
        let configuration = """
            daemon off; master_process off; pid \(folder.path)/nginx.pid;
            events {}
            http {
                access_log off; \(temporary)
                upstream keel { \(servers.joined(separator: " ")) keepalive 64; }
                server {
                    listen 127.0.0.1:\(port);
                    location / {
                        proxy_pass http://keel;
                        proxy_http_version 1.1;
                        proxy_set_header Connection "";
                        proxy_set_header Host $http_host;
                        proxy_buffering off;
                        proxy_read_timeout 90s;
                        client_max_body_size 16m;
                    }
                }
            }
            """
        let file = folder.appending(path: "nginx.conf")
        try Data(configuration.utf8).write(to: file)
        process.executableURL = URL(filePath: try #require(Self.program))
        process.arguments = [
            "-p", folder.path, "-e", folder.path + "/error.log", "-c", file.path,
        ]
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    func stop() {
        // A process that Foundation starts may ignore SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        return port
    }
}
