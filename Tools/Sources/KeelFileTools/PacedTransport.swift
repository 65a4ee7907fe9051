package import KeelHTTP
internal import Synchronization

/// A transport that limits the rate of bodies, of all requests together and of all replies together.
package struct PacedTransport: HTTPTransport {
    private let upstream: any HTTPTransport
    private let sent: Pace
    private let received: Pace

    package init(_ upstream: any HTTPTransport, to limit: RateLimit) {
        self.upstream = upstream
        sent = Pace(limit)
        received = Pace(limit)
    }

    package var features: HTTPTransportFeatures { upstream.features }

    package func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        var call = call
        call.body = call.body.map { paced($0) }
        var reply = try await upstream.send(call)
        reply.body = reply.body.mapReads { [received] read async throws(TransportError) in
            try await received.read(read)
        }
        return reply
    }

    package func shutdown() async { await upstream.shutdown() }

    private func paced(_ body: HTTPBody) -> HTTPBody {
        HTTPBody(length: body.length, isReplayable: body.isReplayable) {
            [sent] () async throws(TransportError) in
            try await body.open().mapReads { read async throws(TransportError) in
                try await sent.read(read)
            }
        }
    }
}

/// Lets bytes pass at a rate: each piece delays the next one.
private final class Pace: Sendable {
    private let rate: Double
    private let next = Mutex(ContinuousClock.now)

    init(_ limit: RateLimit) { rate = Double(limit.bytesPerSecond) }

    func read(_ read: HTTPByteStream.Read) async throws(TransportError) -> ArraySlice<UInt8>? {
        guard let bytes = try await read() else { return nil }
        let now = ContinuousClock.now
        let start = next.withLock { next in
            // Time in which nothing passed is not made up for.
            let start = max(next, now)
            next = start + .seconds(Double(bytes.count) / rate)
            return start
        }
        guard start > now else { return bytes }
        do {
            try await Task.sleep(until: start, clock: .continuous)
        } catch {
            throw TransportError(.cancelled)
        }
        return bytes
    }
}

/// A rate, such as 500K, 2M or 1.5G bytes per second.
package struct RateLimit: Hashable, Sendable {
    /// The slowest rate, 16 KiB per second: below it, servers end a transfer as stalled.
    package static let slowest = 16 << 10

    package let bytesPerSecond: Int

    /// Parses a rate, with K, M and G as powers of 1024; nil below ``slowest``, and from 1 PiB per second on.
    package init?(_ text: String) {
        let units: [Character: Int] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard let number = Double(digits), number.isFinite else { return nil }
        let rate = number * Double(unit ?? 1)
        guard rate >= Double(Self.slowest), rate < Double(1 << 50) else { return nil }
        bytesPerSecond = Int(rate)
    }
}
