#if Logging

internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP
internal import KeelHTTPCompression
internal import KeelJournal
internal import KeelLogging
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

final class OTLPCollector: DeliveryReceiver {
    static let undecodable = "undecodable"

    private struct State {
        var random: any RandomNumberGenerator & Sendable
        var requestCount = 0
        /// The journal's count of lost records when last reported.
        var reportedLosses: Int
        /// The record that reports a loss, until it is shipped, and the journal's count then.
        var gap: (record: StoredLogRecord, lost: Int)?
        /// Whether it waits until the collector accepts a request again.
        var isGapHeld = false
        var ids = RecordIDs()

        /// Ends the report of a loss, which was shipped or given up.
        mutating func endReport() {
            reportedLosses = gap?.lost ?? reportedLosses
            gap = nil
        }
    }

    let limits: (records: Int, bytes: Int)
    private let configuration: OTLPLogConfiguration
    private let head: HTTPRequest
    private let resource: [(key: String, value: String)]
    private let next: HTTPNext
    private let clock: any Clock<Duration>
    private let state: Mutex<State>

    init(
        _ head: HTTPRequest,
        _ configuration: OTLPLogConfiguration,
        over transport: any HTTPTransport,
        clock: any Clock<Duration>,
        random: any RandomNumberGenerator & Sendable,
        reportedLosses: Int
    ) {
        self.head = head
        self.configuration = configuration
        self.clock = clock
        limits = (configuration.batchCount, configuration.batchByteLimit)
        next = transport.chain(configuration.compresses ? [RequestCompression()] : [])
        resource = configuration.resource.sorted { $0.key < $1.key }
            .map { (key: $0.key, value: $0.value) }
        state = Mutex(State(random: random, reportedLosses: reportedLosses))
    }

    static func head(_ configuration: OTLPLogConfiguration) throws(LoggingError) -> HTTPRequest {
        let endpoint = configuration.endpoint
        var authority = endpoint.host() ?? ""
        if authority.contains(":"), !authority.hasPrefix("[") { authority = "[\(authority)]" }
        if let port = endpoint.port { authority += ":\(port)" }
        var path = endpoint.path()
        if path.isEmpty { path = "/" }
        if let query = endpoint.query() { path += "?\(query)" }
        var head = HTTPRequest(
            method: .post,
            scheme: endpoint.scheme?.lowercased(),
            authority: authority,
            path: path
        )
        head.headerFields[.contentType] = configuration.encoding.mediaType
        for (name, value) in configuration.headers {
            guard let field = HTTPField.Name(name) else {
                throw LoggingError(.invalidArgument, "“\(name)” is not a valid header field name")
            }
            head.headerFields[field] = value
        }
        return head
    }

    var requestCount: Int { state.withLock { $0.requestCount } }

    var reportedLosses: Int { state.withLock { $0.reportedLosses } }

    @Sendable func random() -> UInt64 { state.withLock { $0.random.next() } }

    // MARK: Records

    struct Item: Sendable {
        let stored: StoredLogRecord
        let time: Int64
    }

    func sort(_ record: JournalRecord) -> DeliveryDecision<Item> {
        guard let stored = StoredLogRecord(record.bytes) else {
            return .settle(.rejected(Self.undecodable))
        }
        return .send(Item(stored: stored, time: record.time), size: record.bytes.count)
    }

    private func gap(_ lost: Int, before time: Int64) -> StoredLogRecord? {
        state.withLock { state in
            let count = lost - state.reportedLosses
            if count > 0, state.gap == nil {
                let id = state.ids.next(at: time / 1000, using: &state.random).text
                let record = LogRecord.lost(count, at: time)
                state.gap = StoredLogRecord(StoredLogRecord.bytes(of: record, id: id))
                    .map { (record: $0, lost: lost) }
            }
            return state.isGapHeld ? nil : state.gap?.record
        }
    }

    // MARK: Sending

    func send(_ batch: [Item], lost: Int) async -> DeliveryReply {
        let records = batch.map(\.stored)
        guard let gap = gap(lost, before: batch.first?.time ?? 0) else {
            let reply = await post(records, count: batch.count)
            if case .settled = reply { state.withLock { $0.isGapHeld = false } }
            return reply
        }
        let reply = await post([gap] + records, count: batch.count)
        switch reply {
        case .settled: state.withLock { $0.endReport() }
        case .refused(_, _, let isTooLarge):
            // The report may be at fault, which must cost no record.
            let reply = await post(records, count: batch.count)
            state.withLock { state in
                guard case .settled = reply else {
                    state.isGapHeld = true
                    return
                }
                if !isTooLarge { state.endReport() }
            }
            return reply
        default: break
        }
        return reply
    }

    private func post(_ records: [StoredLogRecord], count: Int) async -> DeliveryReply {
        let request = OTLPRequest(records, resource: resource)
        let isJSON = configuration.encoding == .json
        let call = HTTPCall(
            head,
            body: HTTPBody(isJSON ? request.json() : request.protobuf()),
            timeouts: HTTPTimeouts(firstByte: configuration.timeout, idle: configuration.timeout)
        )
        state.withLock { $0.requestCount += 1 }
        do throws(TransportError) {
            let reply = try await next(call)
            let status = reply.head.status.code
            switch status {
            case 200..<300:
                let limit = Deadline(in: configuration.timeout, on: clock)
                let refused = await OTLPPartialSuccess.rejected(reply, isJSON: isJSON, limit)
                // The collector does not say which ones.
                let rejected = (0..<min(refused, count)).map { ($0, "refused") }
                return .settled(rejected: Dictionary(uniqueKeysWithValues: rejected))
            case 400, 413, 422:
                return .refused(
                    reason: status == 413 ? "tooLarge" : "refused",
                    detail: "status \(status)",
                    isTooLarge: status == 413
                )
            // The OTLP specification, "OTLP/HTTP Response", retries only 429, 502, 503 and 504. Here no status from 500
            // up costs a record: it says that the collector failed, and nothing about the records. Any other one holds
            // them back as well: the URL, format or credentials are wrong.
            case 408, 421, 425, 429, 500...:
                let failure = DeliveryFailure("status \(status)", status: status)
                return .postponed(failure, notBefore: reply.head.retryAfter)
            default:
                let failure = DeliveryFailure("status \(status)", status: status)
                return .postponed(failure, notBefore: nil)
            }
        } catch {
            return .unknown(DeliveryFailure(error.code.name))
        }
    }
}

#endif
