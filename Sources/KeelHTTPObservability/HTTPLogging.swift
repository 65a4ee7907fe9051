#if Observability

public import HTTPTypes
public import KeelCore
public import KeelHTTP
public import Logging
internal import Synchronization

/// Logs calls: one line for each, and its details at a lower level.
///
/// ```swift
/// configuration.observers.append(HTTPLogging(Logger(label: "api")))
/// ```
///
/// It is an observer of events, not a layer: it sees repetitions, redirects and cached answers as
/// well as exchanges, and cannot slow a call down more than its log handler does. Targets lose
/// their query; header fields are written only where asked for, and then redacted; bodies never.
/// Errors are named by their code.
public struct HTTPLogging: HTTPEventObserver {
    /// The levels of the lines.
    public struct Levels: Sendable, Hashable {
        /// A call that was answered, whatever the status below 500.
        public var answered: Logger.Level = .info
        /// A call that was answered with a status from 500.
        public var refused: Logger.Level = .warning
        /// A call that failed.
        public var failed: Logger.Level = .warning
        /// A call that its caller cancelled.
        public var cancelled: Logger.Level = .debug
        /// What happens during a call.
        public var details: Logger.Level = .debug

        /// Creates the usual levels.
        public init() {}
    }

    /// Which header fields are written with the details.
    public enum Fields: Sendable, Hashable {
        /// None.
        case none
        /// Those of these names, redacted.
        case named(Set<HTTPField.Name>)
        /// All of them, redacted.
        case all
    }

    private let logger: Logger
    private let levels: Levels
    private let fields: Fields
    private let redactor: Redactor
    private let calls = OpenCalls()

    /// Creates an observer that logs.
    ///
    /// - Parameters:
    ///   - logger: Where to log; nil is a logger called `keel.http`.
    ///   - levels: The levels of the lines.
    ///   - fields: Which header fields are written with the details.
    ///   - redactor: What takes secrets out of targets and fields.
    public init(
        _ logger: Logger? = nil,
        levels: Levels = Levels(),
        fields: Fields = .none,
        redactor: Redactor = .standard
    ) {
        self.logger = logger ?? Logger(label: "keel.http")
        self.levels = levels
        self.fields = fields
        self.redactor = redactor
    }

    public func observe(_ event: HTTPEvent) {
        let ended = calls.add(event)
        guard let ended else {
            logDetail(event)
            return
        }
        let level = level(of: ended)
        guard logger.logLevel <= level else { return }
        let hasFailed = ended.errorType != nil
        logger.log(
            level: level,
            hasFailed ? "HTTP call failed" : "HTTP call answered",
            metadata: metadata(of: ended)
        )
    }

    private func level(of call: HTTPCallSummary) -> Logger.Level {
        switch call.outcome {
        case .pending: levels.details
        case .answered(let status): status >= 500 ? levels.refused : levels.answered
        case .failed(let code): code == .cancelled ? levels.cancelled : levels.failed
        }
    }

    private func metadata(of call: HTTPCallSummary) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "http.call": "\(call.call)",
            "http.request.method": "\(call.method.rawValue)",
            "url.full": "\(redactor.redactURL(call.url))",
            "http.duration": "\(call.duration)",
        ]
        if case .answered(let status) = call.outcome {
            metadata["http.response.status_code"] = "\(status)"
        }
        if let type = call.errorType { metadata["error.type"] = "\(type)" }
        if call.attempts.count > 1 { metadata["http.requests"] = "\(call.attempts.count)" }
        if call.retryCount > 0 { metadata["http.retries"] = "\(call.retryCount)" }
        if let refusal = call.refusal { metadata["http.not_retried"] = "\(refusal)" }
        if call.responseBytes > 0 {
            metadata["http.response.body.size"] = "\(call.responseBytes)"
        }
        if let cached = call.cached { metadata["http.cached"] = "\(cached)" }
        if let first = call.timeToFirstByte { metadata["http.first_byte"] = "\(first)" }
        if let version = call.lastAttempt?.connection?.version {
            metadata["network.protocol.version"] = "\(version)"
        }
        return metadata
    }

    private func logDetail(_ event: HTTPEvent) {
        guard logger.logLevel <= levels.details else { return }
        var metadata: Logger.Metadata = [
            "http.call": "\(event.call)", "http.attempt": "\(event.attempt)",
            "http.elapsed": "\(event.elapsed)",
        ]
        switch event.moment {
        case .sending(let head):
            metadata["http.request.fields"] = shown(head.headerFields)
        case .received(let head, _):
            metadata["http.response.fields"] = shown(head.headerFields)
        default: break
        }
        let text = event.redacted(by: redactor).moment.description
        logger.log(level: levels.details, "HTTP: \(text)", metadata: metadata)
    }

    private func shown(_ all: HTTPFields) -> Logger.MetadataValue? {
        let chosen: HTTPFields
        switch fields {
        case .none: return nil
        case .named(let names): chosen = HTTPFields(all.filter { names.contains($0.name) })
        case .all: chosen = all
        }
        return .array(redactor.redact(chosen).map { "\($0.name.rawName): \($0.value)" })
    }
}

extension HTTPCallSummary {
    /// The code of the failure, or the status of a refusal, by OpenTelemetry's rules.
    var errorType: String? {
        switch outcome {
        case .pending: nil
        case .answered(let status): status >= 500 ? "\(status)" : nil
        case .failed(let code): code.name
        }
    }
}

/// The summaries of the calls under way.
final class OpenCalls: Sendable {
    // Enough for any app; a call whose end nobody tells must not stay forever.
    private static let limit = 10_000

    private let calls = Mutex<[HTTPCallID: HTTPCallSummary]>([:])

    /// Takes an event in; returns the summary of the call if it ended with this event.
    func add(_ event: HTTPEvent) -> HTTPCallSummary? {
        calls.withLock { calls in
            if case .started = event.moment {
                if calls.count >= Self.limit { calls.removeAll() }
                calls[event.call] = HTTPCallSummary(event)
                return nil
            }
            calls[event.call]?.add(event)
            switch event.moment {
            case .succeeded, .failed: return calls.removeValue(forKey: event.call)
            default: return nil
            }
        }
    }
}

#endif
