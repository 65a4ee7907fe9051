#if canImport(CoreLocation)
public import CoreLocation
internal import Foundation

extension LocationCoordinate {
    /// Creates a coordinate from one of CoreLocation.
    ///
    /// - Throws: ``LocationError`` with the code `invalidArgument` for one that is not valid.
    public init(_ coordinate: CLLocationCoordinate2D) throws(LocationError) {
        try self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}

extension CLLocationCoordinate2D {
    /// Creates a coordinate of CoreLocation.
    public init(_ coordinate: LocationCoordinate) {
        self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}

extension LocationFix {
    /// Creates a fix from a location of CoreLocation; nil for one that is not valid.
    ///
    /// CoreLocation tells what is unknown by negative numbers, and here it is nil. A horizontal accuracy
    /// of 0 is unknown too: `CLLocation(latitude:longitude:)` has it.
    public init?(_ location: CLLocation) {
        func known(_ value: Double) -> Double? { value >= 0 ? value : nil }
        guard location.horizontalAccuracy >= 0 else { return nil }
        let hasAltitude = location.verticalAccuracy > 0
        do throws(LocationError) {
            try self.init(
                LocationCoordinate(location.coordinate),
                horizontalAccuracy: location.horizontalAccuracy > 0
                    ? location.horizontalAccuracy : nil,
                altitude: hasAltitude ? location.altitude : nil,
                verticalAccuracy: hasAltitude ? location.verticalAccuracy : nil,
                speed: known(location.speed),
                course: known(location.course),
                time: location.timestamp
            )
        } catch {
            return nil
        }
    }
}

extension CLLocation {
    /// Creates a location of CoreLocation from a fix.
    ///
    /// What is unknown has the number that CoreLocation has for it: a horizontal accuracy of 0, as
    /// `CLLocation(latitude:longitude:)` has, and -1 for speed, course and vertical accuracy. CoreLocation
    /// has no valid altitude without an accuracy: one of a fix that has none comes along, marked by -1.
    public convenience init(_ fix: LocationFix) {
        self.init(
            coordinate: CLLocationCoordinate2D(fix.coordinate),
            altitude: fix.altitude ?? 0,
            horizontalAccuracy: fix.horizontalAccuracy ?? 0,
            verticalAccuracy: fix.altitude == nil ? -1 : fix.verticalAccuracy ?? -1,
            course: fix.course ?? -1,
            speed: fix.speed ?? -1,
            timestamp: fix.time
        )
    }
}
#endif
