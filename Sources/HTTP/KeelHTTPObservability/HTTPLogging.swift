#if Observability

public import HTTPTypes
public import KeelCore
public import KeelHTTP
public import Logging
internal import Synchronization

/// An observer that logs one line per call, and its details at a lower level.
///
/// ```swift
/// configuration.observers.append(HTTPLogging(Logger(label: "api")))
/// ```
///
/// It sees retries, redirects and cached responses as well as exchanges, and slows a call down no more than its log
/// handler does. URLs lose their query; fields are logged on request, redacted; bodies never. Errors show their code.
public struct HTTPLogging: HTTPEventObserver {
    /// The log levels.
    public struct Levels: Sendable, Hashable {
        /// A call answered with a status below 500.
        public var answered: Logger.Level = .info
        /// A call answered with a status of 500 or above.
        public var serverError: Logger.Level = .warning
        /// A call that failed.
        public var failed: Logger.Level = .warning
        /// A call that its caller canceled.
        public var cancelled: Logger.Level = .debug
        /// The details of a call.
        public var details: Logger.Level = .debug

        /// Creates the default levels.
        public init() {}
    }

    /// The header fields logged with the details.
    public enum Fields: Sendable, Hashable {
        /// None.
        case none
        /// The fields with these names, redacted.
        case named(Set<HTTPField.Name>)
        /// All fields, redacted.
        case all
    }

    private let logger: Logger
    private let levels: Levels
    private let fields: Fields
    private let redactor: Redactor
    private let calls = OpenCalls()

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - logger: The logger; nil is a logger called `keel.http`.
    ///   - levels: The log levels.
    ///   - fields: The header fields logged with the details.
    ///   - redactor: Removes secrets from URLs and fields.
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
        case .answered(let status): status >= 500 ? levels.serverError : levels.answered
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
        if let refusal = call.retryRefusal { metadata["http.not_retried"] = "\(refusal)" }
        if call.responseBytes > 0 {
            metadata["http.response.body.size"] = "\(call.responseBytes)"
        }
        if let cached = call.cacheFreshness { metadata["http.cached"] = "\(cached)" }
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
        switch event.kind {
        case .sending(let head):
            metadata["http.request.fields"] = shown(head.headerFields)
        case .received(let head, _):
            metadata["http.response.fields"] = shown(head.headerFields)
        default: break
        }
        let text = event.redacted(by: redactor).kind.description
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
    /// The code of the failure, or an error status, by OpenTelemetry's rules.
    var errorType: String? {
        switch outcome {
        case .pending: nil
        case .answered(let status): status >= 500 ? "\(status)" : nil
        case .failed(let code): code.name
        }
    }
}

final class OpenCalls: Sendable {
    // Enough for any app, and keeps calls whose end is never reported from piling up.
    private static let limit = 10_000

    private let calls = Mutex<[HTTPCallID: HTTPCallSummary]>([:])

    /// Adds an event; returns the summary of the call if the event ended it.
    func add(_ event: HTTPEvent) -> HTTPCallSummary? {
        calls.withLock { calls in
            if case .started = event.kind {
                if calls.count >= Self.limit { calls.removeAll() }
                calls[event.call] = HTTPCallSummary(event)
                return nil
            }
            calls[event.call]?.add(event)
            switch event.kind {
            case .succeeded, .failed: return calls.removeValue(forKey: event.call)
            default: return nil
            }
        }
    }
}

#endif
