#if Observability

internal import KeelCore
internal import KeelStorageAdapting
internal import Logging
internal import Tracing

struct StorageObserver: Sendable {
    let label: String
    let logger: Logger
    let metrics: StorageMetrics
    let tracer: (any Tracer)?
    let clock: any Clock<Duration>
    let includesMessages: Bool

    func observe<Value: Sendable>(
        _ call: ObservedCall,
        _ operation: () async throws(StorageError) -> Value,
        outcome: (Value) -> CallOutcome
    ) async throws(StorageError) -> Value {
        let name = call.collection.map { "\(call.operation) \($0)" } ?? call.operation
        let tracer = tracer ?? InstrumentationSystem.tracer
        let elapsed = stopwatch(on: clock)
        // `withSpan` throws untyped errors; a `Result` keeps the type.
        let result = await tracer.withSpan(name, ofKind: .client) { span in
            let result: Result<Value, StorageError>
            do throws(StorageError) {
                result = .success(try await operation())
            } catch {
                result = .failure(error)
            }
            let report = report(on: result, outcome: outcome)
            describe(call, report, in: span)
            metrics.record(call, report, duration: elapsed())
            log(call, report, duration: elapsed())
            return result
        }
        return try result.get()
    }

    private func report<Value>(
        on result: Result<Value, StorageError>,
        outcome: (Value) -> CallOutcome
    ) -> CallOutcome {
        switch result {
        case .success(let value): outcome(value)
        case .failure(let error): CallOutcome(failures: [error])
        }
    }

    // MARK: Traces

    /// Fills a span following OpenTelemetry's semantic conventions for database client spans.
    private func describe(_ call: ObservedCall, _ outcome: CallOutcome, in span: any Span) {
        var attributes = SpanAttributes()
        attributes["db.system.name"] = "keel"
        attributes["db.namespace"] = label
        attributes["db.operation.name"] = call.operation
        attributes["db.collection.name"] = call.collection
        if call.operation == "commit", let size = call.size, size > 1 {
            attributes["db.operation.batch.size"] = size
        }
        if call.operation != "commit", outcome.failures.isEmpty {
            attributes["db.response.returned_rows"] = outcome.read
        }
        attributes["error.type"] = outcome.failures.first?.code.name
        span.attributes.merge(attributes)
        for failure in outcome.failures { span.recordError(shown(failure)) }
        guard let failure = outcome.failures.first else { return }
        span.setStatus(SpanStatus(code: .error, message: failure.code.name))
    }

    /// Removes what must not leave the process from an error.
    private func shown(_ error: StorageError) -> StorageError {
        guard !includesMessages else { return error }
        return StorageError(error.code, "a storage call failed", effect: error.effect)
    }

    // MARK: Logs

    private func log(_ call: ObservedCall, _ outcome: CallOutcome, duration: Duration) {
        let level = level(of: outcome)
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = [
            "storage.label": "\(label)",
            "storage.operation": "\(call.operation)",
            "storage.duration": "\(duration)",
        ]
        if let collection = call.collection { metadata["storage.collection"] = "\(collection)" }
        if let size = call.size { metadata["storage.size"] = "\(size)" }
        if outcome.read > 0 { metadata["storage.read"] = "\(outcome.read)" }
        if outcome.written > 0 { metadata["storage.written"] = "\(outcome.written)" }
        guard let failure = outcome.failures.first else {
            logger.log(level: level, "storage call succeeded", metadata: metadata)
            return
        }
        let codes = Set(outcome.failures.map(\.code.name)).sorted()
        let isSettled = outcome.failures.allSatisfy { $0.effect == .none }
        metadata["error.code"] = "\(codes.joined(separator: ","))"
        metadata["error.effect"] = isSettled ? "none" : "unknown"
        metadata["error.count"] = "\(outcome.failures.count)"
        if includesMessages { metadata["error.message"] = "\(failure)" }
        logger.log(level: level, "storage call failed", metadata: metadata)
    }

    private func level(of outcome: CallOutcome) -> Logger.Level {
        guard outcome.failures.allSatisfy(\.isCancellation) else { return .warning }
        return outcome.isEmptyPage ? .trace : .debug
    }
}

#endif
