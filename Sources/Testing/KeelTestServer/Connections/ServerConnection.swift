#if TestServer
import KeelTestKit
import NIOCore
import NIOSSL

/// A connection from its acceptance to its end.
struct ServerConnection: Sendable {
    typealias Channels = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    let channel: any Channel
    let number: Int
    let configuration: FaultServer.Configuration
    let secure: SecureChannel?
    let script: ServerScript
    let journal: Watched<HTTPTestJournal>

    func serve() async {
        script.opened(channel, number)
        await withTaskCancellationHandler {
            do {
                try await open()
            } catch {
                // A client that hangs up ends only its own connection.
            }
        } onCancel: {
            channel.eventLoop.execute { channel.cutNow() }
        }
        await channel.cut()
        script.closed(number)
        journal.change { $0.connections[number].isClosed = true }
    }

    private func open() async throws {
        let inner: Channels
        var version: FaultServer.Version?
        if let secure, secure.fault == nil {
            let (channels, negotiated) = try await handshake(secure)
            inner = channels
            version = negotiated.flatMap { FaultServer.Version(rawValue: $0) } ?? .http1
        } else {
            // Wrapped only now, because NIO traps if a wrapped channel is released unused, as the last ones are when a
            // test ends.
            inner = try await channel.eventLoop.submit {
                try Channels(wrappingChannelSynchronously: channel)
            }.get()
            try? await channel.setOption(.autoRead, value: true).get()
        }
        let chosen = version
        try await inner.executeThenClose { inbound, _ in
            let reader = WireReader(inbound) { count in
                journal.change { $0.connections[number].receivedBytes += count }
            }
            let wire = Wire(channel)
            if let fault = secure?.fault {
                try await pretend(fault, reader, wire)
            } else {
                try await talk(chosen, reader, wire)
            }
        }
    }

    private func talk(
        _ version: FaultServer.Version?,
        _ reader: WireReader,
        _ wire: Wire
    ) async throws {
        if let raw = script.raw {
            return try await raw(RawConnection(number, reader, wire, journal))
        }
        var first: [UInt8] = []
        var version = version
        if version == nil {
            (version, first) = try await sniff(reader)
        }
        let session = SessionContext(
            number: number,
            configuration: configuration,
            script: script,
            journal: journal,
            wire: wire,
            reader: reader
        )
        switch version {
        case .http2?: try await HTTP2Session(session).serve(startingWith: first)
        default: try await HTTP1Session(session).serve(startingWith: first)
        }
    }

    /// Distinguishes HTTP/2 with prior knowledge from HTTP/1.1 by the first bytes.
    private func sniff(_ reader: WireReader) async throws -> (FaultServer.Version, [UInt8]) {
        guard configuration.protocols.contains(.http2) else { return (.http1, []) }
        let preface = HTTP2Frame.preface
        var bytes: [UInt8] = []
        while bytes.count < preface.count, preface.starts(with: bytes) {
            guard let more = try await reader.next() else { break }
            bytes += more
        }
        return (bytes.starts(with: preface) ? .http2 : .http1, bytes)
    }

    private func handshake(_ secure: SecureChannel) async throws -> (Channels, String?) {
        do {
            let opened = try await secure.open(channel)
            let security = HTTPTestRequest.Security(
                version: try? await channel.nioSSL_tlsVersion().get().map { "\($0)" },
                negotiatedProtocol: opened.1,
                clientCertificate: try? await channel.nioSSL_peerCertificate().get()?.toDERBytes()
            )
            journal.change { $0.connections[number].security = security }
            return opened
        } catch {
            let text = String(describing: error)
            journal.change { $0.connections[number].handshakeFailure = text }
            throw error
        }
    }

    /// Simulates a handshake fault once the client has begun a handshake.
    private func pretend(
        _ fault: FaultServer.HandshakeFault,
        _ reader: WireReader,
        _ wire: Wire
    ) async throws {
        guard try await reader.next() != nil else { return }
        switch fault {
        case .stall: while try await reader.next() != nil {}
        case .close: await wire.close()
        case .reset: await wire.reset()
        case .plainText:
            try await wire.write(
                Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
            )
        case .garbage: try await wire.write([UInt8](repeating: 0x2a, count: 64))
        }
    }
}

/// The environment of a session of either protocol.
struct SessionContext: Sendable {
    let number: Int
    let configuration: FaultServer.Configuration
    let script: ServerScript
    let journal: Watched<HTTPTestJournal>
    let wire: Wire
    let reader: WireReader

    func pause(_ duration: Duration) async throws {
        try await configuration.clock.sleep(for: duration)
    }

    func finish(_ request: Int) {
        journal.change { $0.requests[request].isAnswered = true }
    }

    func hangUp(_ request: Int, code: UInt32? = nil) {
        let hangUp = HTTPTestDisconnect(request: request, connection: number, streamCode: code)
        journal.change { $0.disconnects.append(hangUp) }
    }
}
#endif
