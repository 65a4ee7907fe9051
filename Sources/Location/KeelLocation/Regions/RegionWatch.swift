/// Tracks the regions around a series of fixes.
///
/// A fix within the radius enters a region. To leave it, a fix must be outside by more than the
/// hysteresis and by more than its own uncertainty: a fix with an accuracy of 200 m says nothing
/// about 50 m. In between, nothing changes.
struct RegionWatch: Sendable {
    private let regions: [LocationRegion]
    private(set) var inside: Set<LocationRegion.ID> = []

    init(_ regions: [LocationRegion]) { self.regions = regions }

    /// Handles a fix.
    ///
    /// - Returns: Exits, then entries, each in the order of the regions.
    mutating func take(_ fix: LocationFix) -> [RegionEvent] {
        var exits: [RegionEvent] = []
        var entries: [RegionEvent] = []
        for region in regions {
            let distance = region.center.distance(to: fix.coordinate)
            if inside.contains(region.id) {
                let margin = max(region.hysteresis, fix.horizontalAccuracy ?? 0)
                guard distance > region.radius + margin else { continue }
                inside.remove(region.id)
                exits.append(RegionEvent(.exited, region, by: fix))
            } else if distance <= region.radius {
                inside.insert(region.id)
                entries.append(RegionEvent(.entered, region, by: fix))
            }
        }
        return exits + entries
    }
}
