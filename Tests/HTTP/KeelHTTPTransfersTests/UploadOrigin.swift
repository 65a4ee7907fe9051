import HTTPTypes
import KeelHTTP
import KeelTestKit
import Synchronization

/// A server for resumable uploads by both protocols, without sockets, with seeded failures.
final class UploadOrigin: HTTPTransportDouble {
    enum Fault: CaseIterable {
        case refused, lostRequest, lostReply, partlyTaken, status503, throttled, forgets, conflict
        case tellsLess, damaged
    }

    struct Upload {
        var length: Int64
        var bytes: [UInt8] = []
        var isComplete = false
        var metadata: String?
    }

    struct State {
        var uploads: [String: Upload] = [:]
        var finished: [[UInt8]] = []
        var next = 0
        var random: SeededRandom
        var rate: Double
        var faults: [Fault]
        var requests: [HTTPRequest] = []
        var supports = true
        var forgetsFinished = false
        var plainBodies: [[UInt8]] = []
        var limit: String?
        var location = "/uploads/"
    }

    let isTus: Bool
    let features: HTTPTransportFeatures = [.streamingUpload, .rawContentCoding]
    let state: Mutex<State>

    init(tus isTus: Bool, seed: UInt64 = 0, rate: Double = 0, faults: [Fault] = Fault.allCases) {
        self.isTus = isTus
        state = Mutex(State(random: SeededRandom(seed: seed), rate: rate, faults: faults))
    }

    var finished: [[UInt8]] { state.withLock { $0.finished } }
    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func calm() { state.withLock { $0.rate = 0 } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        let fault = state.withLock { state -> Fault? in
            state.requests.append(call.head)
            guard Double.random(in: 0..<1, using: &state.random) < state.rate else { return nil }
            return state.faults.randomElement(using: &state.random)
        }
        switch fault {
        case .refused: throw TransportError(.connectionRefused)
        case .lostRequest: throw TransportError(.connectionLost)
        case .status503: return HTTPReply(head: HTTPResponse(status: .serviceUnavailable))
        case .throttled:
            let fields: HTTPFields = [.retryAfter: "2"]
            return HTTPReply(head: HTTPResponse(status: .tooManyRequests, headerFields: fields))
        default: break
        }
        var body = try await call.body?.open().collect(upTo: .max) ?? []
        if fault == .partlyTaken {
            let count = state.withLock { Int.random(in: 0...body.count, using: &$0.random) }
            body = Array(body.prefix(count))
        }
        let isWhole = fault != .partlyTaken
        let head = state.withLock { $0.answer(call.head, body, isWhole, fault, isTus: isTus) }
        if fault == .lostReply || fault == .partlyTaken { throw TransportError(.connectionLost) }
        return HTTPReply(head: head)
    }
}

extension HTTPField.Name {
    static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .via }
}

extension UploadOrigin.State {
    private func field(_ head: HTTPRequest, _ name: String) -> String? {
        head.headerFields[.named(name)]
    }

    fileprivate mutating func answer(
        _ head: HTTPRequest,
        _ body: [UInt8],
        _ isWhole: Bool,
        _ fault: UploadOrigin.Fault?,
        isTus: Bool
    ) -> HTTPResponse {
        guard supports else {
            guard head.method == .post else { return HTTPResponse(status: .methodNotAllowed) }
            if isWhole { plainBodies.append(body) }
            return HTTPResponse(status: .created)
        }
        var response = HTTPResponse(status: .noContent)
        if isTus { response.headerFields[.named("Tus-Resumable")] = "1.0.0" }
        switch head.method {
        case .options:
            if isTus {
                response.headerFields[.named("Tus-Version")] = "1.0.0,0.2.2"
                response.headerFields[.named("Tus-Extension")] = "creation,termination"
            } else {
                response.headerFields[.named("Upload-Limit")] = limit ?? "min-size=0"
            }
        case .post:
            let name = "\(location)\(next)"
            next += 1
            let length = field(head, "Upload-Length").flatMap(Int64.init) ?? -1
            uploads[name] = UploadOrigin.Upload(
                length: length,
                metadata: field(head, "Upload-Metadata")
            )
            response.status = .created
            response.headerFields[.location] = name
            response.headerFields[.named("Upload-Offset")] = "0"
            if !isTus { response.headerFields[.named("Upload-Complete")] = "?0" }
        default: existing(head, body, isWhole, fault, isTus, &response)
        }
        return response
    }

    private mutating func existing(
        _ head: HTTPRequest,
        _ body: [UInt8],
        _ isWhole: Bool,
        _ fault: UploadOrigin.Fault?,
        _ isTus: Bool,
        _ response: inout HTTPResponse
    ) {
        let name = head.path ?? ""
        if fault == .forgets, uploads[name]?.isComplete == false { uploads[name] = nil }
        guard var upload = uploads[name] else {
            response.status = .notFound
            return
        }
        switch head.method {
        case .head:
            if fault == .tellsLess, !upload.isComplete {
                upload.bytes.removeLast(Int.random(in: 0...upload.bytes.count, using: &random))
            }
        case .patch:
            let offset = field(head, "Upload-Offset").flatMap(Int.init)
            if fault == .damaged {
                response.status = isTus ? .init(code: 460) : .badGateway
                return
            }
            guard offset == upload.bytes.count, fault != .conflict, !upload.isComplete else {
                response.status = .conflict
                return
            }
            upload.bytes += body
            // A tus upload is complete once its bytes have arrived, even if the request failed.
            let isEnd = isTus || isWhole && field(head, "Upload-Complete") == "?1"
            if isEnd, Int64(upload.bytes.count) == upload.length {
                upload.isComplete = true
                finished.append(upload.bytes)
                if !isTus { response.status = .created }
            }
        case .delete:
            uploads[name] = nil
            return
        default:
            response.status = .methodNotAllowed
            return
        }
        uploads[name] = upload.isComplete && forgetsFinished ? nil : upload
        response.headerFields[.named("Upload-Offset")] = "\(upload.bytes.count)"
        if isTus {
            response.headerFields[.named("Upload-Length")] = "\(upload.length)"
        } else {
            response.headerFields[.named("Upload-Complete")] = upload.isComplete ? "?1" : "?0"
        }
    }
}
