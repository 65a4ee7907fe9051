import CoreLocation
import Foundation
import KeelLocation
import Testing

@Suite("Values of CoreLocation on a stand-in")
struct ValueTests {
    private let time = Date(timeIntervalSince1970: 1000)

    private func coordinate() throws -> LocationCoordinate {
        try LocationCoordinate(latitude: 59.5, longitude: -18.25)
    }

    @Test("A complete fix survives the round trip")
    func full() throws {
        let fix = try LocationFix(
            coordinate(),
            horizontalAccuracy: 5,
            altitude: -12,
            verticalAccuracy: 3,
            speed: 0,
            course: 0,
            time: time
        )
        let location = CLLocation(fix)
        #expect(location.coordinate.latitude == 59.5 && location.coordinate.longitude == -18.25)
        #expect(location.altitude == -12 && location.verticalAccuracy == 3)
        #expect(location.speed == 0 && location.course == 0)
        #expect(location.timestamp == time)
        #expect(LocationFix(location) == fix)
    }

    @Test("A fix with only a position survives the round trip")
    func bare() throws {
        let fix = try LocationFix(coordinate(), time: time)
        let location = CLLocation(fix)
        // Like the default of CLLocation(latitude:longitude:): a negative number would make the position invalid.
        #expect(location.horizontalAccuracy == 0)
        #expect(location.verticalAccuracy < 0 && location.speed < 0 && location.course < 0)
        #expect(LocationFix(location) == fix)
    }

    @Test("An altitude without an accuracy is passed on, and is unknown after the round trip")
    func altitude() throws {
        let fix = try LocationFix(coordinate(), altitude: 30, time: time)
        let location = CLLocation(fix)
        #expect(location.altitude == 30 && location.verticalAccuracy < 0)
        #expect(LocationFix(location)?.altitude == nil)
    }

    @Test("An invalid location or coordinate is rejected", arguments: [91, -90.5, .nan])
    func invalid(_ latitude: Double) throws {
        let place = CLLocationCoordinate2D(latitude: latitude, longitude: 0)
        let error = #expect(throws: LocationError.self) { try LocationCoordinate(place) }
        #expect(error?.code == .invalidArgument)
        let location = CLLocation(
            coordinate: place,
            altitude: 0,
            horizontalAccuracy: 5,
            verticalAccuracy: -1,
            course: -1,
            speed: -1,
            timestamp: time
        )
        #expect(LocationFix(location) == nil)
    }

    @Test("A location with a negative accuracy is not a fix")
    func unknownPlace() throws {
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(try coordinate()),
            altitude: 0,
            horizontalAccuracy: -1,
            verticalAccuracy: -1,
            course: -1,
            speed: -1,
            timestamp: time
        )
        #expect(LocationFix(location) == nil)
    }
}
