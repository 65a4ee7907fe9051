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

        init(_ name: String, _ start: (Double, Double), _ end: (Double, Double), _ metres: Double) {
            testDescription = name
            self.start = start
            self.end = end
            self.metres = metres
        }
    }

    private static let degree = 111_195.0802
    private static let pairs = [
        Pair("the same", (1, 2), (1, 2), 0),
        Pair("a degree north", (0, 0), (1, 0), degree),
        Pair("a degree east", (0, 0), (0, 1), degree),
        Pair("a degree east at 60 degrees, which is half as far", (60, 0), (60, 1), 55_597.0),
        Pair("over the date line", (0, 179.5), (0, -179.5), degree),
        Pair("along both names of the date line", (10, 180), (10, -180), 0),
        Pair("over the north pole", (89.5, 0), (89.5, 180), degree),
        Pair("at the pole, where longitude means nothing", (-90, 17), (-90, -120), 0),
        Pair("from pole to pole", (90, 0), (-90, 0), 20_015_114.4),
        Pair("to the antipode", (0, 0), (0, 180), 20_015_114.4),
        Pair("a metre", (0, 0), (0.00000899322, 0), 1),
        // The formula's example in R. W. Sinnott's "Virtues of the Haversine", BNA to LAX, which
        // gives 2,887.26 km for a radius of 6,372.8 km.
        Pair("Nashville to Los Angeles", (36.12, -86.67), (33.94, -118.40), 2_886_447),
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
