#if Observability

internal import KeelCore
internal import KeelStorageAdapting
internal import Metrics
internal import Synchronization

final class StorageMetrics: Sendable {
    private struct Made {
        var timers: [String: Metrics.Timer] = [:]
        var counters: [String: Counter] = [:]
    }

    private let store: String
    private let factory: any MetricsFactory
    private let made = Mutex(Made())

    init(store: String, factory: any MetricsFactory) {
        self.store = store
        self.factory = factory
    }

    func record(_ call: ObservedCall, _ outcome: CallOutcome, duration: Duration) {
        // Dimensions must be the same for all values, so several collections get an empty name.
        let collection = call.collection ?? ""
        timer(operation: call.operation, collection: collection).record(duration: duration)
        if outcome.read > 0 {
            counter("keel_storage_documents_read", "collection", collection)
                .increment(by: outcome.read)
        }
        if outcome.written > 0 {
            counter("keel_storage_documents_written", "collection", collection)
                .increment(by: outcome.written)
        }
        for failure in outcome.failures {
            errors(operation: call.operation, code: failure.code.name).increment()
        }
    }

    private func timer(operation: String, collection: String) -> Metrics.Timer {
        made.withLock { made in
            let key = "\(operation) \(collection)"
            if let timer = made.timers[key] { return timer }
            let timer = Metrics.Timer(
                label: "keel_storage_duration",
                dimensions: [
                    ("store", store), ("operation", operation), ("collection", collection),
                ],
                factory: factory
            )
            made.timers[key] = timer
            return timer
        }
    }

    private func errors(operation: String, code: String) -> Counter {
        counter("keel_storage_errors", [("operation", operation), ("code", code)])
    }

    private func counter(_ label: String, _ name: String, _ value: String) -> Counter {
        counter(label, [(name, value)])
    }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
        made.withLock { made in
            let key = ([label] + dimensions.map(\.1)).joined(separator: " ")
            if let counter = made.counters[key] { return counter }
            let counter = Counter(
                label: label,
                dimensions: [("store", store)] + dimensions,
                factory: factory
            )
            made.counters[key] = counter
            return counter
        }
    }
}

#endif
