internal import KeelCore

extension LocationService {
    /// Returns the current position.
    ///
    /// If the source is already monitored and its last fix is accurate enough and not stale, the call returns
    /// immediately; otherwise, it monitors the source until it returns. Transient failures do not end the wait.
    ///
    /// - Parameters:
    ///   - accuracy: The maximum horizontal uncertainty in meters; nil accepts any.
    ///   - timeout: The time limit.
    /// - Returns: The first fix that is accurate enough.
    /// - Throws: ``LocationError``: `timedOut`, with the last failure as its cause; a permission code or another
    ///   non-transient failure; `invalidArgument` unless the numbers are positive; `cancelled`.
    public func currentLocation(
        accuracy: Double? = nil,
        timeout: Duration = .seconds(30)
    ) async throws(LocationError) -> LocationFix {
        guard timeout > .zero, accuracy.map({ $0 > 0 }) ?? true else {
            throw LocationError(
                .invalidArgument,
                "The timeout and the accuracy must be greater than 0."
            )
        }
        guard !Task.isCancelled else { throw .cancellation }
        if let refusal = await permission().refusal { throw refusal }
        let (search, isLate) = await hub.timer.run(until: hub.timer.now + timeout) { [hub] in
            await LocationSearch.run(on: hub, accuracy)
        }
        if let fix = search.found { return fix }
        if let failure = search.failure, !failure.isTransient { throw failure }
        guard isLate else { throw .cancellation }
        let message =
            if let best = search.best {
                "No fix in \(timeout) was accurate to \(accuracy ?? 0) m; the best was \(best) m."
            } else {
                "No fix arrived within \(timeout)."
            }
        throw LocationError(.timedOut, message, cause: search.failure)
    }
}

private struct LocationSearch: Sendable {
    var found: LocationFix?
    /// The best accuracy of the insufficient fixes, in meters.
    var best: Double?
    var failure: LocationError?

    static func run(on hub: LocationHub, _ accuracy: Double?) async -> LocationSearch {
        var search = LocationSearch()
        for await update in hub.listen(keepingNewest: 16, { $0 }) {
            switch update {
            case .state(.fixed), .state(.searching), .state(.lost(_, because: .signalLost)):
                search.failure = nil
            case .state:
                break
            case .fix(let fix):
                if fix.isAccurate(to: accuracy) {
                    search.found = fix
                    return search
                }
                if let metres = fix.horizontalAccuracy {
                    search.best = min(metres, search.best ?? metres)
                }
            case .failure(let error):
                search.failure = error
                if !error.isTransient { return search }
            }
        }
        return search
    }
}
