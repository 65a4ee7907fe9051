import HTTPTypes
import KeelHTTP
import KeelTestKit
import Synchronization

/// A server with one file, without sockets, which supports ranges and fails according to a seed.
final class RangeOrigin: HTTPTransportDouble {
    enum Fault: CaseIterable {
        case refused, lostReply, brokenBody, truncatedBody, status503, throttled, changed
        case ignoresRange, wrongOffset, otherTag, missingTag, noTotal, weakTag, noLength, denies416
        case shortRange, changesMidway

        /// The failures that leave the file unchanged.
        static let losses: [Fault] = [
            .refused, .lostReply, .brokenBody, .truncatedBody, .status503, .shortRange,
        ]
    }

    struct State {
        var content: [UInt8]
        var version = 1
        var random: SeededRandom
        var rate: Double
        var faults: [Fault]
        var requests: [HTTPRequest] = []
        var served: Int64 = 0
        var isWeak = false
    }

    let features: HTTPTransportFeatures = [.streamingUpload, .rawContentCoding]
    let state: Mutex<State>

    init(_ content: [UInt8], seed: UInt64 = 0, rate: Double = 0, faults: [Fault] = Fault.allCases) {
        state = Mutex(
            State(content: content, random: SeededRandom(seed: seed), rate: rate, faults: faults)
        )
    }

    var content: [UInt8] { state.withLock { $0.content } }
    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    var served: Int64 { state.withLock { $0.served } }

    /// Replaces the file by another of the same length.
    func change() { state.withLock { $0.change() } }

    func calm() { state.withLock { $0.rate = 0 } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        let result = state.withLock { state in
            Result { () throws(TransportError) in try state.answer(call.head) }
        }
        let (head, body, error) = try result.get()
        let left = Mutex(body[...])
        let pieceSize = 1000
        let stream = HTTPByteStream { () async throws(TransportError) in
            let piece = left.withLock { left in
                let piece = left.prefix(pieceSize)
                left = left.dropFirst(pieceSize)
                return piece
            }
            self.state.withLock { $0.served += Int64(piece.count) }
            if piece.isEmpty, let error { throw error }
            return piece.isEmpty ? nil : piece
        }
        return HTTPReply(head: head, body: stream)
    }
}

extension Result where Failure == TransportError {
    init(_ body: () throws(TransportError) -> Success) {
        do throws(TransportError) {
            self = .success(try body())
        } catch {
            self = .failure(error)
        }
    }
}

extension RangeOrigin.State {
    mutating func change() {
        version += 1
        var random = SeededRandom(seed: UInt64(version) &* 7919)
        content = content.map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private var tag: String { (isWeak ? "W/" : "") + "\"v\(version)\"" }

    fileprivate mutating func answer(
        _ head: HTTPRequest
    ) throws(TransportError) -> (HTTPResponse, [UInt8], TransportError?) {
        requests.append(head)
        var fault: RangeOrigin.Fault?
        if Double.random(in: 0..<1, using: &random) < rate {
            fault = faults.randomElement(using: &random)
        }
        switch fault {
        case .refused: throw TransportError(.connectionRefused)
        case .lostReply: throw TransportError(.connectionLost)
        case .status503: return (HTTPResponse(status: .serviceUnavailable), [], nil)
        case .throttled:
            return (
                HTTPResponse(status: .tooManyRequests, headerFields: [.retryAfter: "3"]), [], nil
            )
        case .changed: change()
        case .weakTag: isWeak = true
        default: isWeak = false
        }
        var response = HTTPResponse(status: .ok)
        response.headerFields[.eTag] = tag
        var body = content
        if let range = head.headerFields[.range], fault != .ignoresRange, !isWeak,
            head.headerFields[.ifRange] == tag
        {
            let digits = range.drop { $0 != "=" }.dropFirst().prefix { $0 != "-" }
            let first = Int(digits) ?? 0
            guard first < content.count, fault != .denies416 else {
                response.status = .rangeNotSatisfiable
                response.headerFields[.contentRange] = "bytes */\(content.count)"
                return (response, [], nil)
            }
            response.status = .partialContent
            var last = content.count - 1
            if fault == .shortRange { last = Int.random(in: first...last, using: &random) }
            let total = fault == .noTotal ? "*" : "\(content.count)"
            let told = fault == .wrongOffset ? max(0, first - 1) : first
            response.headerFields[.contentRange] = "bytes \(told)-\(last)/\(total)"
            body = Array(content[first...last])
            if fault == .otherTag { response.headerFields[.eTag] = "\"other\"" }
            if fault == .missingTag { response.headerFields[.eTag] = nil }
        }
        if fault != .noLength { response.headerFields[.contentLength] = "\(body.count)" }
        let cut = Int.random(in: 0...body.count, using: &random)
        switch fault {
        case .brokenBody:
            return (response, Array(body.prefix(cut)), TransportError(.connectionLost))
        case .truncatedBody:
            return (response, Array(body.prefix(cut)), TransportError(.truncatedBody))
        case .changesMidway:
            change()
            return (response, Array(body.prefix(cut)), TransportError(.connectionLost))
        default: return (response, body, nil)
        }
    }
}
