import KeelLocation
import KeelTestSupport
import Testing

@testable import struct KeelLocation.RegionWatch

@Suite("Regions")
struct RegionTests {
    /// A circle with a radius of 1,000 m around the point at 0° latitude and longitude.
    private func region(_ id: String = "a", hysteresis: Double = 50) throws -> LocationRegion {
        try LocationRegion(
            id: id,
            center: LocationCoordinate(latitude: 0, longitude: 0),
            radius: 1_000,
            hysteresis: hysteresis
        )
    }

    /// A fix a number of meters north of the center.
    private func at(_ metres: Double, accuracy: Double? = nil) throws -> LocationFix {
        try fix(metres / 111_195.0802, 0, accuracy: accuracy)
    }

    @Test("A region is entered and left once, with a margin in between")
    func margin() throws {
        var watch = RegionWatch([try region()])
        let way = [2_000, 1_001, 999, 0, 1_001, 1_049, 999, 1_051, 1_049, 1_001, 999]
        let kinds = try way.map { watch.take(try at(Double($0))).map(\.kind) }
        #expect(kinds == [[], [], [.entered], [], [], [], [], [.exited], [], [], [.entered]])
    }

    @Test("Noise at the edge causes a single entry")
    func noise() throws {
        var watch = RegionWatch([try region()])
        let events = try (0..<100).flatMap { number in
            try watch.take(at(number.isMultiple(of: 2) ? 990 : 1_040))
        }
        #expect(events.map(\.kind) == [.entered])
    }

    @Test("A fix that is too inaccurate causes no exit")
    func uncertain() throws {
        var watch = RegionWatch([try region()])
        #expect(try watch.take(at(0)).map(\.kind) == [.entered])
        #expect(try watch.take(at(1_500, accuracy: 600)).isEmpty)
        #expect(try watch.take(at(1_500, accuracy: 400)).map(\.kind) == [.exited])
    }

    @Test("A first fix inside is an entry, and one outside causes no event")
    func first() throws {
        var inside = RegionWatch([try region()])
        #expect(try inside.take(at(10)).map(\.kind) == [.entered])
        #expect(inside.inside == ["a"])
        var outside = RegionWatch([try region()])
        #expect(try outside.take(at(5_000)).isEmpty)
    }

    @Test("Exits are reported before entries, each with its region")
    func several() throws {
        let here = try region("here")
        let there = try LocationRegion(
            id: "there",
            center: LocationCoordinate(latitude: 1, longitude: 0),
            radius: 500
        )
        var watch = RegionWatch([there, here])
        _ = try watch.take(at(0))
        let fix = try fix(1, 0)
        #expect(
            watch.take(fix) == [
                RegionEvent(.exited, here, by: fix), RegionEvent(.entered, there, by: fix),
            ]
        )
    }

    @Test("A region can span the date line")
    func dateLine() throws {
        let fiji = try LocationRegion(
            id: "fiji",
            center: LocationCoordinate(latitude: -17, longitude: 179.999),
            radius: 1_000
        )
        var watch = RegionWatch([fiji])
        #expect(watch.take(try fix(-17, -179.999)).map(\.kind) == [.entered])
    }

    @Test(
        "An invalid region is rejected",
        arguments: [(0.0, 1.0), (-1, 1), (.nan, 1), (20_000_001, 1), (10, -1), (10, .nan)]
            as [(Double, Double)]
    )
    func invalid(_ radius: Double, _ hysteresis: Double) throws {
        let center = try LocationCoordinate(latitude: 0, longitude: 0)
        expectError(LocationError.self, .invalidArgument) {
            try LocationRegion(id: "a", center: center, radius: radius, hysteresis: hysteresis)
        }
    }
}
