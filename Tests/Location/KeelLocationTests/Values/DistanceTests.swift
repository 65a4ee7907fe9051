import KeelLocation
import Testing

@testable import struct KeelLocation.DistanceFilter

@Suite("Distances on the Earth")
struct DistanceTests {
    /// Two places and their distance in meters, by the haversine formula and WGS 84's mean radius.
    struct Pair: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let start: (Double, Double)
        let end: (Double, Double)
        let metres: Double
    }

    private static let degree = 111_195.0802
    private static let pairs = [
        Pair(testDescription: "the same", start: (1, 2), end: (1, 2), metres: 0),
        Pair(testDescription: "a degree north", start: (0, 0), end: (1, 0), metres: degree),
        Pair(testDescription: "a degree east", start: (0, 0), end: (0, 1), metres: degree),
        Pair(
            testDescription: "a degree east at 60 degrees, which is half as far",
            start: (60, 0),
            end: (60, 1),
            metres: 55_597.0
        ),
        Pair(
            testDescription: "over the date line",
            start: (0, 179.5),
            end: (0, -179.5),
            metres: degree
        ),
        Pair(
            testDescription: "along both names of the date line",
            start: (10, 180),
            end: (10, -180),
            metres: 0
        ),
        Pair(
            testDescription: "over the north pole",
            start: (89.5, 0),
            end: (89.5, 180),
            metres: degree
        ),
        Pair(
            testDescription: "at the pole, where longitude means nothing",
            start: (-90, 17),
            end: (-90, -120),
            metres: 0
        ),
        Pair(
            testDescription: "from pole to pole",
            start: (90, 0),
            end: (-90, 0),
            metres: 20_015_114.4
        ),
        Pair(
            testDescription: "to the antipode",
            start: (0, 0),
            end: (0, 180),
            metres: 20_015_114.4
        ),
        Pair(testDescription: "a metre", start: (0, 0), end: (0.00000899322, 0), metres: 1),
        // The formula's example in R. W. Sinnott's "Virtues of the Haversine", BNA to LAX, which
        // gives 2,887.26 km for a radius of 6,372.8 km.
        Pair(
            testDescription: "Nashville to Los Angeles",
            start: (36.12, -86.67),
            end: (33.94, -118.40),
            metres: 2_886_447
        ),
    ]

    @Test("Known distances are correct in both directions", arguments: Self.pairs)
    func known(_ pair: Pair) throws {
        let start = try LocationCoordinate(latitude: pair.start.0, longitude: pair.start.1)
        let end = try LocationCoordinate(latitude: pair.end.0, longitude: pair.end.1)
        let tolerance = max(0.001, pair.metres * 1e-5)
        #expect(abs(start.distance(to: end) - pair.metres) < tolerance)
        #expect(abs(end.distance(to: start) - pair.metres) < tolerance)
    }

    @Test("A filter passes the first fix and those far enough from the last one passed")
    func filter() throws {
        var filter = DistanceFilter(100)
        // About 55 m apart: every second one is far enough.
        let passed = try (0..<6).map { filter.passes(try fix(Double($0) * 0.0005, 0)) }
        #expect(passed == [true, false, true, false, true, false])
    }

    @Test("A filter works across the date line")
    func dateLine() throws {
        var filter = DistanceFilter(1_000)
        #expect(filter.passes(try fix(0, 179.9999)))
        let next = filter.passes(try fix(0, -179.9999))
        #expect(!next)
    }

    @Test("Without a distance all fixes pass, even at the same position")
    func none() throws {
        var filter = DistanceFilter(0)
        for _ in 0..<3 { #expect(filter.passes(try fix(1, 2))) }
    }
}
