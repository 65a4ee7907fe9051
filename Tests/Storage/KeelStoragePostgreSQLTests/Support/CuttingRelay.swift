#if PostgreSQL
import Foundation
import KeelTestSupport
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A relay in front of a server, which cuts a connection at a chosen step of the conversation.
///
/// A step is a block of bytes that arrives from either side; the steps of all connections are counted together.
final class CuttingRelay: Sendable {
    struct Cut: Sendable {
        /// How much of the block the other side still gets.
        enum Part: Sendable, CaseIterable { case nothing, half, everything }

        var step: Int
        var part: Part
        /// Runs after the part has been sent, and before the connection ends.
        var action: @Sendable () -> Void = {}
    }

    private struct State {
        var steps = 0
        var cut: Cut?
    }

    let port: Int
    private let target: Int
    private let listener: FileDescriptor
    private let state = Mutex(State())

    init(to target: Int) throws {
        self.target = target
        let listener = try FileDescriptor.listening()
        (self.listener, port) = (listener, listener.port)
        Thread.detachNewThread { [weak self] in
            while let client = listener.accept() {
                guard let self, let server = FileDescriptor.connected(to: self.target) else {
                    client.end()
                    continue
                }
                self.relay(from: client, to: server)
                self.relay(from: server, to: client)
            }
        }
    }

    func stop() { listener.end() }

    /// The number of steps since the last call of ``arm(_:)``.
    var steps: Int { state.withLock { $0.steps } }

    /// Whether the cut is still to come.
    var isArmed: Bool { state.withLock { $0.cut != nil } }

    /// Counts the steps from now on, and cuts at one of them.
    func arm(_ cut: Cut?) { state.withLock { $0 = State(cut: cut) } }

    private func relay(from source: FileDescriptor, to sink: FileDescriptor) {
        Thread.detachNewThread { [self] in
            while let block = source.read() {
                let cut = state.withLock { state -> Cut? in
                    defer { state.steps += 1 }
                    guard let cut = state.cut, cut.step == state.steps else { return nil }
                    state.cut = nil
                    return cut
                }
                guard let cut else {
                    guard sink.write(block[...]) else { break }
                    continue
                }
                switch cut.part {
                case .nothing: break
                case .half: _ = sink.write(block.prefix(block.count / 2))
                case .everything: _ = sink.write(block[...])
                }
                cut.action()
                break
            }
            source.end()
            sink.end()
        }
    }
}

/// A socket, which is closed with its last reference.
final class FileDescriptor: Sendable {
    private let number: Int32

    private init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    private static func socket() -> FileDescriptor {
        #if canImport(Darwin)
        FileDescriptor(Darwin.socket(AF_INET, SOCK_STREAM, 0))
        #else
        FileDescriptor(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        #endif
    }

    private func withAddress(
        _ port: Int,
        _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    static func listening() throws -> FileDescriptor {
        let descriptor = socket()
        guard descriptor.withAddress(0, bind), listen(descriptor.number, 64) == 0 else {
            throw CocoaError(.executableLoad)
        }
        return descriptor
    }

    static func connected(to port: Int) -> FileDescriptor? {
        let descriptor = socket()
        return descriptor.withAddress(port, connect) ? descriptor : nil
    }

    var port: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(number, $0, &length)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    func accept() -> FileDescriptor? {
        #if canImport(Darwin)
        let client = Darwin.accept(number, nil, nil)
        #else
        let client = Glibc.accept(number, nil, nil)
        #endif
        return client < 0 ? nil : FileDescriptor(client)
    }

    /// Returns the next block; nil at the end of the connection.
    func read() -> [UInt8]? {
        var block = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(number, &block, block.count, 0)
        return count > 0 ? Array(block.prefix(count)) : nil
    }

    func write(_ block: ArraySlice<UInt8>) -> Bool {
        var rest = block
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(number, $0.baseAddress, $0.count, Self.quiet) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Keeps a connection that the other side has closed from ending the process.
    private static var quiet: Int32 {
        #if canImport(Darwin)
        0
        #else
        Int32(MSG_NOSIGNAL)
        #endif
    }

    /// Ends the connection, also for a thread that waits for it.
    func end() { shutdown(number, Int32(SHUT_RDWR)) }
}
#endif
