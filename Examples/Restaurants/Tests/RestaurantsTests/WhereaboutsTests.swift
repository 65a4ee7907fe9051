import KeelLocation
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Device location")
struct WhereaboutsTests {
    @Test("The device’s location is used once the user has granted permission")
    func place() async throws {
        let fix = try LocationFix(
            LocationCoordinate(latitude: 51.21, longitude: -3.38),
            horizontalAccuracy: 20,
            time: day(0)
        )
        let adapter = ScriptedLocationAdapter(
            LocationTrack([.init(.fix(fix))]),
            permission: .notDetermined
        )
        let place = try await DeviceWhereabouts(LocationService(adapter)).currentPlace()
        #expect(place == Coordinate(latitude: 51.21, longitude: -3.38))
        #expect(adapter.permissionRequestCount == 1)
    }

    @Test("A refusal is a specific error with advice")
    func refused() async {
        let adapter = ScriptedLocationAdapter(permission: .denied)
        let error = await #expect(throws: DomainError.self) {
            try await DeviceWhereabouts(LocationService(adapter)).currentPlace()
        }
        #expect(error?.kind == .locationRefused)
        #expect(error?.recoverySuggestion?.contains("name a place") == true)
    }

    @Test("A device without a fix reports an error after the timeout")
    func unknown() async throws {
        let clock = TestClock()
        let location = LocationService(
            ScriptedLocationAdapter(clock: clock),
            configuration: .init(clock: clock)
        )
        let error = await #expect(throws: DomainError.self) {
            async let place = DeviceWhereabouts(location, patience: .seconds(10)).currentPlace()
            await clock.waitForSleepers()
            await clock.advance(by: .seconds(10))
            _ = try await place
        }
        #expect(error?.kind == .locationUnknown)
    }
}
