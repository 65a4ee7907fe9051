import CoreLocation
import Foundation
import Keel
import KeelConformance
import KeelCore
import KeelLocation
import Synchronization
import Testing

@Suite("The CoreLocation adapter on a stand-in", .serialized, .timeLimit(.minutes(2)))
struct CoreLocationTests {
    private static let features: LocationAdapterSubject.Features = [
        .searches, .permission, .repeats,
    ]

    @Test("It keeps its promises", arguments: LocationAdapterCheck.applicable(to: Self.features))
    func promises(_ check: LocationAdapterCheck) async throws {
        try await updating(0)
        try await check.run(
            on: LocationAdapterSubject(features: Self.features) { setting in
                Device.shared.reset(status(setting.permission), answer: setting.answer.map(status))
                return .init(
                    CoreLocationAdapter(),
                    userCount: { Device.shared.updatingCount },
                    feed: { feed in await play(feed) }
                )
            }
        )
    }

    @Test("Values that the system marks as unknown with negative numbers are nil")
    func unknown() async throws {
        try await resetDevice(.authorizedAlways, answer: nil)
        let location = LocationService(CoreLocationAdapter())
        var fixes = location.fixes().makeAsyncIterator()
        try await updating(1)
        await MainActor.run {
            Device.shared.move(to: made(1, 2, accuracy: -1))
            Device.shared.move(to: made(1, 3, accuracy: 5))
            Device.shared.move(to: made(1, 4, accuracy: 6, altitude: (12, 3), motion: (1.5, 90)))
        }
        let bare = try #require(try await fixes.next())
        #expect(bare.coordinate.longitude == 3)
        #expect(bare.horizontalAccuracy == 5)
        #expect(bare.altitude == nil && bare.verticalAccuracy == nil)
        #expect(bare.speed == nil && bare.course == nil)
        let full = try #require(try await fixes.next())
        #expect(full.altitude == 12 && full.verticalAccuracy == 3)
        #expect(full.speed == 1.5 && full.course == 90)
        #expect(await location.capabilities().kind == .coreLocation)
    }

    @Test("A position from the system's cache is stale")
    func stored() async throws {
        try await resetDevice(.authorizedAlways, answer: nil)
        let location = LocationService(
            CoreLocationAdapter(),
            configuration: .init(lostAfter: .seconds(3600))
        )
        var states = location.states.makeAsyncIterator()
        try await updating(1)
        let start = ContinuousClock.now
        await MainActor.run { Device.shared.move(to: made(1, 2, accuracy: 5, age: 40)) }
        while let state = await states.next(), state.fix == nil {}
        guard case .stale(_, let age)? = location.state else {
            Issue.record("\(String(describing: location.state))")
            return
        }
        #expect(age > .seconds(39) && age < .seconds(41) + start.duration(to: .now))
    }

    @Test("The desired accuracy is passed on, and the best accuracy is the default")
    func accuracy() async throws {
        try await resetDevice(.authorizedAlways, answer: nil)
        for (asked, passed) in [(100.0, 100.0), (nil, kCLLocationAccuracyBest)] {
            let location = LocationService(
                CoreLocationAdapter(),
                configuration: .init(desiredAccuracy: asked)
            )
            try await location.startMonitoring()
            try await updating(1)
            #expect(await Device.shared.accuracies == [passed])
            location.stopMonitoring()
            try await updating(0)
        }
    }

    @Test(
        "Each error maps to its code",
        arguments: [
            (CLError.Code.denied, LocationError.Code.permissionDenied), (.network, .unavailable),
            (.headingFailure, .unknown), (.locationUnknown, nil),
        ] as [(CLError.Code, LocationError.Code?)]
    )
    func errors(_ code: CLError.Code, _ expected: LocationError.Code?) async throws {
        try await resetDevice(.authorizedAlways, answer: nil)
        let seen = Mutex<[LocationError.Code?]>([])
        let end = CoreLocationAdapter().monitor(.init()) { event in
            switch event {
            case .failure(let error): seen.withLock { $0.append(error.code) }
            case .searching: seen.withLock { $0.append(nil) }
            case .fix: break
            }
        }
        try await updating(1)
        seen.withLock { $0 = [] }
        await MainActor.run { Device.shared.fail(CLError(code)) }
        #expect(seen.withLock { $0 } == [expected])
        end()
        try await updating(0)
    }

    @Test("A permission request without an answer ends with its task", .timeLimit(.minutes(1)))
    func unanswered() async throws {
        try await resetDevice(.notDetermined, answer: nil)
        let asking = Task { try await CoreLocationAdapter().requestPermission(.always) }
        // Bounded by the test's time limit, which cancels its task; this package has no test kit.
        while Device.shared.askedCount == 0, !Task.isCancelled { await Task.yield() }
        asking.cancel()
        let error = await #expect(throws: LocationError.self) { try await asking.value }
        #expect(error?.isCancellation == true)
    }

    @Test("It is the platform's default adapter")
    func platform() async throws {
        try await resetDevice(.denied, answer: nil)
        let capabilities = await LocationService.platformDefault().capabilities()
        #expect(capabilities.kind == .coreLocation)
        #expect(capabilities.problem == .permissionDenied)
    }

    @Test("Production configurations use it, also with an observer, and use gpsd when it is named")
    func preset() async throws {
        try await resetDevice(.authorizedAlways, answer: nil)
        let seen = Mutex<[KeelObservation]>([])
        var keel = KeelConfiguration.production(
            "Notes",
            observer: KeelObserver { observation in seen.withLock { $0.append(observation) } }
        )
        let location = keel.makeLocation()
        #expect(await location.capabilities().kind == .coreLocation)
        let plain = KeelConfiguration.production("Notes").makeLocation()
        #expect(await plain.capabilities().kind == .coreLocation)
        try await location.startMonitoring()
        try await updating(1)
        await MainActor.run { Device.shared.move(to: made(1, 2, accuracy: 5)) }
        location.stopMonitoring()
        try await updating(0)
        let areas = Set(seen.withLock { $0 }.map(\.area))
        #expect(areas == [.location])
        keel.location = .gpsd(host: "receiver.example", port: 2_947)
        #expect(await keel.makeLocation().capabilities().kind == .gpsd)
    }

    @Test("The system is told not to pause location updates")
    func pauses() async throws {
        try await resetDevice(.authorizedAlways, answer: nil)
        let location = LocationService(CoreLocationAdapter())
        try await location.startMonitoring()
        try await updating(1)
        #expect(await Device.shared.pausingCount == 0)
        location.stopMonitoring()
        try await updating(0)
    }

    /// Resets the device, after the managers of the tests before have stopped: they do so on the main actor, a moment
    /// after their adapters' last listener has left.
    private func resetDevice(
        _ status: CLAuthorizationStatus,
        answer: CLAuthorizationStatus?
    ) async throws {
        await MainActor.run {}
        try await updating(0)
        Device.shared.reset(status, answer: answer)
    }

    /// Waits until a number of managers update their delegates.
    private func updating(_ count: Int) async throws {
        while Device.shared.updatingCount != count {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

@MainActor private func play(_ feed: LocationAdapterSubject.Feed) {
    switch feed {
    case .fix(let fix):
        Device.shared.move(
            to: made(
                fix.coordinate.latitude,
                fix.coordinate.longitude,
                accuracy: fix.horizontalAccuracy ?? 10
            )
        )
    case .noFix: Device.shared.fail(CLError(.locationUnknown))
    case .decide(let permission): Device.shared.decide(status(permission))
    case .breakConnection, .restoreConnection: break
    }
}

private func status(_ permission: LocationPermission) -> CLAuthorizationStatus {
    switch permission {
    case .notDetermined: .notDetermined
    case .restricted: .restricted
    case .denied: .denied
    case .whenInUse: .authorizedWhenInUse
    case .always, .notRequired: .authorizedAlways
    }
}

private func made(
    _ latitude: Double,
    _ longitude: Double,
    accuracy: Double,
    altitude: (metres: Double, accuracy: Double) = (0, -1),
    motion: (speed: Double, course: Double) = (-1, -1),
    age: TimeInterval = 0
) -> CLLocation {
    CLLocation(
        coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
        altitude: altitude.metres,
        horizontalAccuracy: accuracy,
        verticalAccuracy: altitude.accuracy,
        course: motion.course,
        speed: motion.speed,
        timestamp: Date(timeIntervalSinceNow: -age)
    )
}
