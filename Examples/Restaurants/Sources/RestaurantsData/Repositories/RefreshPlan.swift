internal import RestaurantsDomain

/// The writes that make what is kept the same as what has arrived.
struct RefreshPlan: Sendable {
    /// What a source sent, sorted into what can be taken and what cannot.
    struct Arrivals: Sendable {
        private(set) var restaurants: [Restaurant] = []
        private(set) var failures: [MappingFailure] = []

        init(_ entries: [RestaurantEntryDTO]) {
            var seen: Set<RestaurantID> = []
            for entry in entries {
                do throws(MappingFailure) {
                    let restaurant = try Restaurant(entry)
                    guard seen.insert(restaurant.id).inserted else {
                        throw MappingFailure(id: restaurant.id.text, "id", .repeated)
                    }
                    restaurants.append(restaurant)
                } catch {
                    failures.append(error)
                }
            }
        }
    }

    /// What is new or different.
    private(set) var changed: [StoredRestaurant] = []
    /// What the source no longer has.
    let removedIDs: [String]
    /// What the plan amounts to.
    let report: RefreshReport

    init(from kept: [StoredRestaurant], to arrivals: Arrivals) {
        var gone = Dictionary(kept.map { ($0.id, $0) }) { first, _ in first }
        var (added, updated, unchanged) = (0, 0, 0)
        for arrival in arrivals.restaurants.map(StoredRestaurant.init) {
            let before = gone.removeValue(forKey: arrival.id)
            switch before {
            case nil: added += 1
            case arrival: unchanged += 1
            default: updated += 1
            }
            if before != arrival { changed.append(arrival) }
        }
        // An entry that cannot be read is no sign that the restaurant has closed.
        for failure in arrivals.failures {
            if let id = failure.id { gone[id] = nil }
        }
        removedIDs = gone.keys.sorted()
        report = RefreshReport(
            added: added,
            updated: updated,
            removed: removedIDs.count,
            unchanged: unchanged,
            rejections: arrivals.failures.map {
                RefreshReport.Rejection(id: $0.id, reason: $0.reason)
            }
        )
    }
}
