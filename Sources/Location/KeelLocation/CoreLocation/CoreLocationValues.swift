#if canImport(CoreLocation)
public import CoreLocation
internal import Foundation

extension LocationCoordinate {
    /// Creates a coordinate from a Core Location coordinate.
    ///
    /// - Throws: ``LocationError`` with the code `invalidArgument` if it is invalid.
    public init(_ coordinate: CLLocationCoordinate2D) throws(LocationError) {
        try self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}

extension CLLocationCoordinate2D {
    /// Creates a Core Location coordinate.
    public init(_ coordinate: LocationCoordinate) {
        self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
    }
}

extension LocationFix {
    /// Creates a fix from a Core Location location; nil if it is invalid.
    ///
    /// Negative numbers, which Core Location uses for unknown values, become nil, as does a horizontal accuracy of 0,
    /// which `CLLocation(latitude:longitude:)` sets.
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
    /// Creates a Core Location location from a fix.
    ///
    /// Unknown values become Core Location's: 0 for the horizontal accuracy, and -1 for speed, course and vertical
    /// accuracy. An altitude of unknown accuracy is included, although the -1 marks it as invalid.
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
