#if os(Linux) || os(macOS)
internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A third-party server in its own process, on a port of 127.0.0.1.
package final class PeerProcess: Sendable {
    /// An error for a program that exited before it listened at its port, or for a lack of free ports.
    package struct NotStarted: Error { package let program: String }

    private let process: Process
    private let ended: AsyncStream<Void>

    /// Starts a program and waits until it listens at the port.
    ///
    /// - Throws: ``NotStarted`` if the program exits first, or the error of starting the process.
    package init(_ program: String, _ arguments: [String], port: Int) async throws {
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
            guard process.isRunning else { throw NotStarted(program: program) }
            // A program does not announce that it listens, so the port is polled.
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                process.terminate()
                throw error
            }
        }
    }

    /// Kills the program with `SIGKILL` and waits for its exit.
    package func kill() async {
        #if canImport(Darwin)
        Darwin.kill(process.processIdentifier, SIGKILL)
        #elseif canImport(Glibc)
        Glibc.kill(process.processIdentifier, SIGKILL)
        #elseif canImport(Musl)
        Musl.kill(process.processIdentifier, SIGKILL)
        #endif
        for await _ in ended {}
    }

    /// Returns a port of 127.0.0.1 that is currently free.
    ///
    /// It is below the ports that the system chooses itself: one of those could go to another test's server or
    /// connection before the program listens, or while it is restarted.
    package static func freePort() throws -> Int {
        for _ in 0..<1_000 {
            let port = Int.random(in: 10_000..<30_000)
            guard let descriptor = open(port: port) else { continue }
            close(descriptor)
            return port
        }
        throw NotStarted(program: "")
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
#endif
