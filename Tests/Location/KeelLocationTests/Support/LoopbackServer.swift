#if canImport(Glibc)
import Dispatch
import Foundation
import Glibc
import Synchronization

/// A TCP server on loopback with blocking threads, for doubles of socket servers.
final class LoopbackServer: Sendable {
    /// A connection.
    final class Client: Sendable {
        private let descriptor: Mutex<Int32?>

        init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

        func send(_ text: String) { send(Array(text.utf8)) }

        /// Sends all bytes, however long the peer takes.
        func send(_ bytes: [UInt8]) {
            // Under the lock, so that concurrent sends do not interleave.
            descriptor.withLock { descriptor in
                guard let descriptor else { return }
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { bytes in
                        Glibc.send(descriptor, bytes.baseAddress, bytes.count, 0x4000)
                    }
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }

        /// Ends the connection; its thread closes it.
        func cut() { descriptor.withLock { if let it = $0 { shutdown(it, Int32(SHUT_RDWR)) } } }

        /// Reads the available bytes; empty at the end.
        fileprivate func read() -> [UInt8] {
            guard let descriptor = descriptor.withLock({ $0 }) else { return [] }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return Array(buffer.prefix(max(0, count)))
        }

        fileprivate func finish() { if let it = descriptor.withLock({ $0.take() }) { close(it) } }
    }

    private struct State {
        var listener: Int32?
        /// Reserves the port while no socket listens on it.
        var placeholder: Int32?
        var clients: [ObjectIdentifier: Client] = [:]
    }

    let port: UInt16
    private let state = Mutex(State())
    private let stopped = DispatchSemaphore(value: 0)
    private let onConnect: @Sendable (Client) -> Void
    private let onBytes: @Sendable (Client, [UInt8]) -> Void
    private let onEnd: @Sendable (Client) -> Void

    init(
        onConnect: @escaping @Sendable (Client) -> Void = { _ in },
        onBytes: @escaping @Sendable (Client, [UInt8]) -> Void = { _, _ in },
        onEnd: @escaping @Sendable (Client) -> Void = { _ in }
    ) throws {
        self.onConnect = onConnect
        self.onBytes = onBytes
        self.onEnd = onEnd
        let (descriptor, port) = try Self.listen(0)
        self.port = port
        begin(descriptor)
    }

    deinit {
        stop()
        if let placeholder = state.withLock({ $0.placeholder.take() }) { close(placeholder) }
    }

    /// The number of open connections.
    var clientCount: Int { state.withLock { $0.clients.count } }

    /// Stops listening, and ends all connections.
    func stop() {
        if let listener = state.withLock({ $0.listener.take() }) {
            shutdown(listener, Int32(SHUT_RDWR))
            stopped.wait()
            close(listener)
            let placeholder = (try? Self.bound(port))?.descriptor
            state.withLock { $0.placeholder = placeholder }
        }
        for client in state.withLock({ $0.clients.values }) { client.cut() }
    }

    /// Listens again on the same port.
    func restart() throws {
        guard state.withLock({ $0.listener == nil }) else { return }
        if let placeholder = state.withLock({ $0.placeholder.take() }) { close(placeholder) }
        begin(try Self.listen(port).descriptor)
    }

    private static func listen(_ port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
        let (descriptor, port) = try bound(port)
        guard Glibc.listen(descriptor, 16) == 0 else {
            defer { close(descriptor) }
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return (descriptor, port)
    }

    private static func bound(_ port: UInt16) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(descriptor, pointer, size) == 0 else { return Int32(-1) }
                return getsockname(descriptor, pointer, &size)
            }
        }
        guard status == 0 else {
            defer { close(descriptor) }
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private func begin(_ listener: Int32) {
        state.withLock { $0.listener = listener }
        let stopped = stopped
        Thread.detachNewThread { [weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                guard let self, state.withLock({ $0.listener == listener }) else {
                    close(descriptor)
                    continue
                }
                serve(Client(descriptor))
            }
            stopped.signal()
        }
    }

    private func serve(_ client: Client) {
        state.withLock { $0.clients[ObjectIdentifier(client)] = client }
        Thread.detachNewThread { [weak self] in
            self?.onConnect(client)
            while let bytes = Optional(client.read()), !bytes.isEmpty {
                self?.onBytes(client, bytes)
            }
            self?.onEnd(client)
            _ = self?.state.withLock { $0.clients.removeValue(forKey: ObjectIdentifier(client)) }
            client.finish()
        }
    }
}
#endif
