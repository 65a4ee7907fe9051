import Foundation
import KeelLocation
import KeelTestSupport
import Testing

@Suite("Coordinates and fixes")
struct LocationFixTests {
    private let time = Date(timeIntervalSince1970: 1_772_366_400)

    @Test(
        "Invalid coordinates cannot be created",
        arguments: [
            (90.0000001, 0.0), (-91, 0), (0, 180.0000001), (0, -181), (.nan, 0), (0, .nan),
            (.infinity, 0), (0, -.infinity),
        ] as [(Double, Double)]
    )
    func places(_ latitude: Double, _ longitude: Double) {
        expectError(LocationError.self, .invalidArgument) {
            try LocationCoordinate(latitude: latitude, longitude: longitude)
        }
        // Decoding does not bypass the check.
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(
                LocationCoordinate.self,
                from: Data(#"{"latitude":\#(latitude),"longitude":\#(longitude)}"#.utf8)
            )
        }
    }

    @Test("Coordinates at the limits are valid")
    func ends() throws {
        for (latitude, longitude) in [(90.0, 180.0), (-90, -180), (0, 0)] {
            let place = try LocationCoordinate(latitude: latitude, longitude: longitude)
            #expect(place.latitude == latitude && place.longitude == longitude)
        }
    }

    @Test("Invalid values of a fix are rejected")
    func numbers() throws {
        let place = try LocationCoordinate(latitude: 1, longitude: 2)
        let makings: [() throws -> LocationFix] = [
            { try LocationFix(place, horizontalAccuracy: -1, time: time) },
            { try LocationFix(place, horizontalAccuracy: .nan, time: time) },
            { try LocationFix(place, verticalAccuracy: -0.1, time: time) },
            { try LocationFix(place, altitude: .infinity, time: time) },
            { try LocationFix(place, speed: -1, time: time) },
            { try LocationFix(place, course: -0.1, time: time) },
            { try LocationFix(place, course: 360.1, time: time) },
        ]
        for make in makings {
            expectError(LocationError.self, .invalidArgument) { try make() }
        }
        #expect(try LocationFix(place, course: 360, time: time).course == 0)
    }

    @Test("A fix survives JSON coding, and an invalid one does not decode")
    func coding() throws {
        let fix = try LocationFix(
            LocationCoordinate(latitude: -33.86882, longitude: 151.20929),
            horizontalAccuracy: 4.5,
            altitude: -3,
            verticalAccuracy: 9,
            speed: 1.5,
            course: 271.25,
            time: time
        )
        let data = try JSONEncoder().encode(fix)
        #expect(try JSONDecoder().decode(LocationFix.self, from: data) == fix)
        let wrong = String(decoding: data, as: UTF8.self)
            .replacingOccurrences(of: "271.25", with: "721.25")
        #expect(throws: LocationError.self) {
            try JSONDecoder().decode(LocationFix.self, from: Data(wrong.utf8))
        }
    }

    @Test("An unknown accuracy does not satisfy a requested one")
    func accuracy() throws {
        #expect(try fix(1, 2).isAccurate(to: nil))
        #expect(try !fix(1, 2).isAccurate(to: 1_000))
        #expect(try fix(1, 2, accuracy: 10).isAccurate(to: 10))
        #expect(try !fix(1, 2, accuracy: 10.1).isAccurate(to: 10))
    }
}
