import KeelAnalytics

/// A custom destination: the template in `Documentation/Analytics.md`.
struct LineDestination: AnalyticsDestination {
    let name: String
    let guarantee = DeliveryGuarantee.effectivelyOnce
    let limits = BatchLimits(records: 50, bytes: 100_000)
    /// What the SDK or the connection offers; it may throw.
    let send: @Sendable (String) throws -> Void

    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        let size = line(record).utf8.count + 1
        // Rules of the vendor come here: one bad record must not spoil a batch.
        guard size <= 10_000 else {
            throw AnalyticsRejection("tooLarge", "a line of \(size) bytes is over 10000")
        }
        return size
    }

    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        do {
            try send(batch.map(line).joined(separator: "\n"))
            return .delivered
        } catch is CancellationError {
            return .unknown(DeliveryProblem("the request was canceled"))
        } catch {
            // Without values of properties: problems are shown and logged.
            return .postponed(DeliveryProblem("sending failed"), notBefore: nil)
        }
    }

    /// The id goes along, so that what is repeated can be recognised.
    private func line(_ record: AnalyticsRecord) -> String {
        let what =
            switch record.kind {
            case .event(let name): "event \(name)"
            case .screen(let name): "screen \(name)"
            case .identify: "user \(record.userID ?? "")"
            case .userProperties: "properties \(record.userProperties.keys.sorted())"
            }
        return "\(record.id) \(what) \(record.properties.count)"
    }
}
