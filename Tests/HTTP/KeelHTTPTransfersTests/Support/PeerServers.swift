#if os(Linux) || os(macOS)
import KeelTestSupport
import Foundation
import Testing

/// nginx, serving a folder at full speed, and at a limited rate under `/slow/`.
struct Nginx {
    static let program = ["/usr/sbin/nginx", "/usr/local/bin/nginx", "/opt/homebrew/bin/nginx"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static let absence: Comment = "SKIPPED: there is no nginx here; see Scripts/setup.sh"

    let folder: Scratch
    let port: Int

    init() throws {
        folder = try Scratch()
        port = try PeerProcess.freePort()
        let path = folder.path
        try FileManager.default.createDirectory(
            atPath: path + "/files",
            withIntermediateDirectories: true
        )
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(path)/temp;" }.joined(separator: " ")
        let configuration = """
            daemon off; master_process off; pid \(path)/nginx.pid; error_log \(path)/error.log;
            events {}
            http {
                access_log off; \(temporary)
                server {
                    listen 127.0.0.1:\(port);
                    location /fast/ { alias \(path)/files/; }
                    location /slow/ { alias \(path)/files/; limit_rate 24m; }
                }
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: path + "/nginx.conf"))
    }

    func start() async throws -> PeerProcess {
        let program = try #require(Self.program)
        let path = folder.path
        let arguments = ["-p", path, "-e", path + "/error.log", "-c", path + "/nginx.conf"]
        return try await PeerProcess(program, arguments, port: port)
    }

    func put(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: "\(folder.path)/files/\(name)"))
    }

    func address(_ path: String) throws -> URL {
        try #require(URL(string: "http://127.0.0.1:\(port)/\(path)"))
    }
}

/// The tus server of PyPI's `resumable-upload`, run by the interpreter in `KEEL_PYTHON`.
struct TusServer {
    static let interpreter = ProcessInfo.processInfo.environment["KEEL_PYTHON"]

    static let absence: Comment = """
        SKIPPED: KEEL_PYTHON names no Python with the package 'resumable-upload'; \
        see Scripts/setup.sh
        """

    let folder: Scratch
    let port: Int

    init() throws {
        folder = try Scratch()
        port = try PeerProcess.freePort()
    }

    func start(_ options: [String] = []) async throws -> PeerProcess {
        let arguments = [
            "-m", "resumable_upload", "serve", "--host", "127.0.0.1", "--port", "\(port)",
            "--upload-dir", folder.path + "/uploads", "--db-path", folder.path + "/uploads.db",
            "--log-level", "ERROR",
        ]
        let program = try #require(Self.interpreter)
        return try await PeerProcess(program, arguments + options, port: port)
    }

    var address: URL { get throws { try #require(URL(string: "http://127.0.0.1:\(port)/files")) } }

    func contents() throws -> [[UInt8]] {
        let place = folder.path + "/uploads"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return try names.map { Array(try Data(contentsOf: URL(filePath: place + "/" + $0))) }
    }

    /// Returns the size of the only upload, which must repeat a block; reads one block at a time.
    func storedFile(consistsOf block: [UInt8]) throws -> Int {
        let place = folder.path + "/uploads"
        let names = try FileManager.default.contentsOfDirectory(atPath: place)
        try #require(names.count == 1)
        let handle = try FileHandle(forReadingFrom: URL(filePath: "\(place)/\(names[0])"))
        defer { try? handle.close() }
        let expected = Data(block)
        var count = 0
        while let piece = try handle.read(upToCount: block.count), piece == expected {
            count += piece.count
        }
        return count
    }
}

/// A test's folder, removed with its last reference.
final class Scratch: Sendable {
    let path: String

    init() throws { path = try URL.makeTemporaryFolder().path }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func url(_ name: String) -> URL { URL(filePath: path + "/" + name) }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url(name))) }

    /// Writes a file that repeats a block, without holding all of it in memory.
    func writeLarge(_ name: String, _ block: [UInt8], count: Int) throws {
        try #require(FileManager.default.createFile(atPath: url(name).path, contents: nil))
        let handle = try FileHandle(forWritingTo: url(name))
        for _ in 0..<count { try handle.write(contentsOf: Data(block)) }
        try handle.close()
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
}
#endif
