#if os(Linux) || os(macOS)
import Dispatch
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A server of somebody else's, in a process of its own on a port of 127.0.0.1.
final class PeerProcess: Sendable {
    private let process: Process
    private let ended: AsyncStream<Void>

    /// Starts a program and waits until somebody listens at the port.
    init(_ program: String, _ arguments: [String], port: Int) async throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let (ended, ending) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
        self.process = process
        self.ended = ended
        while !Self.isListening(port) {
            try #require(process.isRunning, "\(program) ended before it listened")
            // A program says nothing when it begins to listen: it is asked again and again.
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Kills the program with `SIGKILL` and waits for its end.
    func kill() async {
        #if canImport(Glibc)
        Glibc.kill(process.processIdentifier, SIGKILL)
        #elseif canImport(Musl)
        Musl.kill(process.processIdentifier, SIGKILL)
        #elseif canImport(Darwin)
        Darwin.kill(process.processIdentifier, SIGKILL)
        #endif
        for await _ in ended {}
    }

    /// A port that nobody has now.
    static func freePort() throws -> Int {
        let descriptor = try #require(open(port: 0))
        defer { close(descriptor) }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func socket() -> Int32 {
        #if canImport(Darwin)
        Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #elseif canImport(Musl)
        Musl.socket(AF_INET, SOCK_STREAM, 0)
        #else
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func open(port: Int) -> Int32? {
        let descriptor = socket()
        var address = address(port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func isListening(_ port: Int) -> Bool {
        let descriptor = socket()
        defer { close(descriptor) }
        var address = address(port)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

/// nginx, which serves a folder: as fast as it can, and under `/slow/` at a rate.
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

/// The tus server of PyPI's `resumable-upload`, run by the interpreter that `KEEL_PYTHON` names.
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

    var address: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:\(port)/files")) }
    }

    /// The contents of all uploads.
    func contents() throws -> [[UInt8]] {
        let place = folder.path + "/uploads"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
        return try names.map { Array(try Data(contentsOf: URL(filePath: place + "/" + $0))) }
    }

    /// How many bytes the only upload has that repeat a block, read a block at a time.
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

/// A folder of a test's own, removed with the last one who holds this.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/keel-transfers-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func url(_ name: String) -> URL { URL(filePath: path + "/" + name) }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url(name))) }

    /// Writes a file that repeats a block, without holding all of it.
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
