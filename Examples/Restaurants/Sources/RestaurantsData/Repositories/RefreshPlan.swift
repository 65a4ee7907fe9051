internal import KeelHTTP
internal import KeelRepositories
internal import RestaurantsDomain

/// The writes that make the stored restaurants equal to the loaded ones.
struct RefreshPlan: Sendable {
    /// The new and changed restaurants.
    let changed: [StoredRestaurant]
    /// The restaurants that the source no longer has.
    let removedIDs: [String]
    let report: RefreshReport

    init(from kept: [StoredRestaurant], to pages: [RestaurantPageDTO]) {
        let before = Dictionary(kept.map { ($0.id, $0) }) { first, _ in first }
        var arrived: [String: StoredRestaurant] = [:]
        var rejections: [RefreshReport.Rejection] = []
        for page in pages {
            let mapped = page.restaurants.toDomain()
            rejections += mapped.dropped.map {
                RefreshReport.Rejection(id: page.ids[$0.index], reason: $0.reason)
            }
            for restaurant in mapped.elements.map(StoredRestaurant.init(domain:)) {
                guard arrived[restaurant.id] == nil else {
                    let reason = "The id is that of an entry before, too."
                    rejections.append(RefreshReport.Rejection(id: restaurant.id, reason: reason))
                    continue
                }
                arrived[restaurant.id] = restaurant
            }
        }
        changed = arrived.values.filter { before[$0.id] != $0 }.sorted { $0.id < $1.id }
        // An unreadable entry does not mean that the restaurant has closed.
        let unread = Set(rejections.compactMap(\.id))
        removedIDs = before.keys.filter { arrived[$0] == nil && !unread.contains($0) }.sorted()
        let added = changed.count { before[$0.id] == nil }
        report = RefreshReport(
            added: added,
            updated: changed.count - added,
            removed: removedIDs.count,
            unchanged: arrived.count - changed.count,
            rejections: rejections
        )
    }
}
