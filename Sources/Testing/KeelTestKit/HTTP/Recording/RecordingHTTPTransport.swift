internal import HTTPTypes
internal import KeelCore
public import KeelHTTP
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A transport that records its exchanges without secrets, for replay.
///
/// ```swift
/// let recording = transport.recording()
/// // … calls …
/// try recording.archive.write(to: file)
/// let replaying = ReplayingHTTPTransport(try HTTPArchive(contentsOf: file))
/// ```
///
/// An exchange enters the archive once its body was read or dropped, or once it failed. Copies share one recording.
public struct RecordingHTTPTransport<Upstream: HTTPTransport>: HTTPTransport {
    fileprivate let upstream: Upstream
    fileprivate let recording: ArchiveRecording

    /// The finished exchanges, in the order in which they began.
    public var archive: HTTPArchive { recording.archive }

    public var features: HTTPTransportFeatures { upstream.features }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let exchange = recording.begin(call.head, body: call.body?.bytes)
        var watched = call
        if let body = call.body, body.bytes == nil {
            watched.body = HTTPBody(length: body.length, isReplayable: body.isReplayable) {
                () async throws(TransportError) in
                exchange.beginSending()
                return try await body.open().mapReads { read async throws(TransportError) in
                    let piece = try await read()
                    exchange.sent(piece)
                    return piece
                }
            }
        }
        do throws(TransportError) {
            var reply = try await upstream.send(watched)
            exchange.received(reply)
            reply.body = reply.body.mapReads { read async throws(TransportError) in
                do throws(TransportError) {
                    let piece = try await read()
                    exchange.received(piece)
                    return piece
                } catch {
                    exchange.failed(error)
                    throw error
                }
            }
            return reply
        } catch {
            exchange.failed(error)
            throw error
        }
    }

    public func shutdown() async { await upstream.shutdown() }
}

extension HTTPTransport {
    /// Records exchanges; see ``RecordingHTTPTransport``.
    public func recording(
        rules: RecordingRules = RecordingRules(),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> RecordingHTTPTransport<Self> {
        RecordingHTTPTransport(
            upstream: self,
            recording: ArchiveRecording(rules: rules, clock: clock, now: now)
        )
    }
}

private final class ArchiveRecording: Sendable {
    let rules: RecordingRules
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let entries = Mutex<[HTTPArchive.Entry?]>([])

    init(
        rules: RecordingRules,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) {
        self.rules = rules
        self.clock = clock
        self.now = now
    }

    var archive: HTTPArchive { HTTPArchive(entries.withLock { $0.compactMap { $0 } }) }

    func begin(_ head: HTTPRequest, body: [UInt8]?) -> RecordedExchange {
        let position = entries.withLock { entries in
            entries.append(nil)
            return entries.count - 1
        }
        return RecordedExchange(
            head,
            body: body ?? [],
            rules: rules,
            startedAt: now(),
            elapsed: stopwatch(on: clock)
        ) { entry in
            self.entries.withLock { $0[position] = entry }
        }
    }
}
