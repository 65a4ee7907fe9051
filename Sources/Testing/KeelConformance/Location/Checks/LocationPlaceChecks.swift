import Foundation
import KeelLocation
import Testing

extension LocationAdapterCheck {
    package static let capabilities: [Self] = [
        Self(.capabilities, "a source has a name") { test async throws in
            #expect(await test.adapter.capabilities().kind.name.isEmpty == false)
        },
        Self(.capabilities, "a working source reports no problem") { test async throws in
            #expect(await test.adapter.capabilities().problem == nil)
        },
        Self(.capabilities, "a source that needs permission declares that it asks for it") {
            test async throws in
            let asks = await test.adapter.capabilities().features.contains(.asksPermission)
            #expect(asks == (await test.adapter.permission() != .notRequired))
        },
    ]

    package static let coordinates: [Self] = places.map { name, latitude, longitude in
        Self(.coordinates, "a fix keeps its coordinates: \(name)") { test async throws in
            let reports = try await test.monitor()
            let fix = try await test.fix(placeFix(latitude, longitude), seenBy: reports)
            #expect(isSame(fix.coordinate.latitude, latitude, within: 1e-8))
            #expect(isSame(fix.coordinate.longitude, longitude, within: 1e-8))
        }
    }

    private static let places: [(String, Double, Double)] = [
        ("equator and prime meridian", 0, 0),
        ("northeast", 59.329323, 18.068581), ("northwest", 21.306944, -157.858333),
        ("southeast", -33.868820, 151.209290), ("southwest", -54.801910, -68.302950),
        ("the north pole", 90, 0), ("the south pole", -90, 0),
        ("the date line from the west", -17.8, 180), ("the date line from the east", -17.8, -180),
        ("one millimeter west of Greenwich", 51.4778, -0.00000001),
        ("eight decimal places", 12.34567891, -98.76543219),
    ]

    package static let details: [Self] =
        values.map { name, fix in
            Self(.details, "details are kept: \(name)", needs: .details) { test async throws in
                let reports = try await test.monitor()
                let wanted = try fix()
                let found = try await test.fix(wanted, seenBy: reports)
                #expect(isSame(found.horizontalAccuracy, wanted.horizontalAccuracy))
                #expect(isSame(found.altitude, wanted.altitude))
                #expect(isSame(found.verticalAccuracy, wanted.verticalAccuracy))
                #expect(isSame(found.speed, wanted.speed))
                #expect(isSame(found.course, wanted.course))
            }
        } + [
            Self(.details, "a fix has the receiver's time", needs: .details) {
                test async throws in
                let reports = try await test.monitor()
                for second in [0, 1, 86_399] {
                    let wanted = try placeFix(1, 2, second: second)
                    let found = try await test.fix(wanted, seenBy: reports)
                    #expect(abs(found.time.timeIntervalSince(wanted.time)) < 0.001)
                }
            },
            Self(.details, "details do not carry over to the next fix", needs: .details) {
                test async throws in
                let reports = try await test.monitor()
                try await test.fix(full(), seenBy: reports)
                let bare = try await test.fix(placeFix(1, 2, second: 1), seenBy: reports)
                #expect(bare.horizontalAccuracy == nil)
                #expect(bare.altitude == nil)
                #expect(bare.verticalAccuracy == nil)
                #expect(bare.speed == nil)
                #expect(bare.course == nil)
            },
        ]

    private static let values: [(String, @Sendable () throws -> LocationFix)] = [
        ("all details", { try full() }), ("no details", { try placeFix(1, 2) }),
        ("an accuracy of 3.5 m", { try detailed(accuracy: 3.5) }),
        ("an accuracy of 2 km", { try detailed(accuracy: 2_000) }),
        ("an altitude of 8,848.86 m", { try detailed(accuracy: 5, altitude: 8_848.86) }),
        ("an altitude below sea level", { try detailed(accuracy: 5, altitude: -430.5) }),
        ("an altitude of 0 m", { try detailed(accuracy: 5, altitude: 0) }),
        ("a speed of 0 m/s", { try detailed(speed: 0) }),
        ("a speed of 250.25 m/s", { try detailed(speed: 250.25) }),
        ("a course due north", { try detailed(speed: 1, course: 0) }),
        ("a course just west of north", { try detailed(speed: 1, course: 359.9) }),
    ]

    private static func detailed(
        accuracy: Double? = nil,
        altitude: Double? = nil,
        speed: Double? = nil,
        course: Double? = nil
    ) throws -> LocationFix {
        try LocationFix(
            LocationCoordinate(latitude: 1, longitude: 2),
            horizontalAccuracy: accuracy,
            altitude: altitude,
            verticalAccuracy: altitude == nil ? nil : 7,
            speed: speed,
            course: course,
            time: Date(timeIntervalSince1970: 1_772_366_400)
        )
    }

    private static func full() throws -> LocationFix {
        try detailed(accuracy: 4.25, altitude: 120.5, speed: 12.5, course: 271.5)
    }
}
