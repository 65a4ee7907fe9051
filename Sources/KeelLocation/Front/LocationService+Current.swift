internal import KeelCore

extension LocationService {
    /// Returns where the device is now.
    ///
    /// A fix that is not stale is returned at once, where the source is monitored already;
    /// otherwise it is monitored for as long as the call takes. A source that is out of reach is
    /// waited for, until the time is over.
    ///
    /// - Parameters:
    ///   - accuracy: The metres that the fix may be off on the ground; nil takes any.
    ///   - timeout: How long to wait at the most.
    /// - Returns: The first fix that is accurate enough.
    /// - Throws: ``LocationError``: `timedOut`, with what was wrong in its cause, one of the codes
    ///   about permission, `invalidArgument` for numbers that are not above 0, `cancelled`.
    public func currentLocation(
        accuracy: Double? = nil,
        timeout: Duration = .seconds(30)
    ) async throws(LocationError) -> LocationFix {
        guard timeout > .zero, accuracy.map({ $0 > 0 }) ?? true else {
            throw LocationError(.invalidArgument, "The timeout and the accuracy are above 0.")
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
                "In \(timeout) no fix was accurate to \(accuracy ?? 0) m; the best was to \(best) m."
            } else {
                "No fix came in \(timeout)."
            }
        throw LocationError(.timedOut, message, cause: search.failure)
    }
}

/// What became of waiting for one fix.
private struct LocationSearch: Sendable {
    var found: LocationFix?
    /// The best accuracy among the fixes that were not accurate enough, in metres.
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
