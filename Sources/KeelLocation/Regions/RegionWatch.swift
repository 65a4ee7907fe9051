/// Which regions one is in, by the fixes so far.
///
/// A region is entered by a fix inside of its radius. It is left by a fix that is outside by more
/// than the hysteresis, and by more than the fix's own uncertainty: a fix that is 200 m off says
/// nothing about 50 m. Between the two edges everything stays as it was.
struct RegionWatch: Sendable {
    private let regions: [LocationRegion]
    private(set) var inside: Set<LocationRegion.ID> = []

    init(_ regions: [LocationRegion]) { self.regions = regions }

    /// Takes a fix.
    ///
    /// - Returns: What it tells, first what was left, in the order of the regions.
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
