import Foundation
import KeelConformance
import KeelLocation
import Synchronization
import Testing

// A template of an adapter over an SDK that calls a delegate. Copy it, replace LegacyReceiver with your SDK, and run
// LocationAdapterCheck on the result.

/// A location adapter over a legacy SDK's receiver.
///
/// A receiver supports one listener, so that each monitoring has its own receiver.
final class LegacyLocationAdapter: LocationAdapter {
    private let device: LegacyDevice

    init(_ device: LegacyDevice) { self.device = device }

    func capabilities() async -> LocationCapabilities {
        LocationCapabilities(kind: .init(name: "legacy"))
    }

    /// The SDK has no permissions: any process that can open the receiver may read it.
    func permission() async -> LocationPermission { .notRequired }

    func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission { .notRequired }

    func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        let monitoring = LegacyMonitoring(report)
        report(.searching)
        monitoring.start(device)
        return { monitoring.stop() }
    }
}

/// A receiver and the closure that gets its reports.
private final class LegacyMonitoring: Sendable {
    /// Locked, because the SDK may call from several threads and reports must not overlap.
    private let report: Mutex<@Sendable (LocationEvent) -> Void>
    private let receiver = Mutex<LegacyReceiver?>(nil)

    init(_ report: @escaping @Sendable (LocationEvent) -> Void) { self.report = Mutex(report) }

    func start(_ device: LegacyDevice) {
        let made = LegacyReceiver { [weak self] position in self?.received(position) }
        receiver.withLock { $0 = made }
        made.start(device)
    }

    /// Ends the reports; the receiver makes no further calls once this has returned.
    func stop() { receiver.withLock { $0.take() }?.stop() }

    private func received(_ position: LegacyPosition?) {
        let event = Self.event(of: position)
        report.withLock { report in report(event) }
    }

    private static func event(of position: LegacyPosition?) -> LocationEvent {
        guard let position else { return .searching }
        do {
            return .fix(
                try LocationFix(
                    LocationCoordinate(latitude: position.latitude, longitude: position.longitude),
                    // In the SDK, a negative accuracy is unknown.
                    horizontalAccuracy: position.accuracy < 0 ? nil : position.accuracy,
                    time: Date(timeIntervalSince1970: position.seconds)
                )
            )
        } catch {
            return .failure(error)
        }
    }
}

// MARK: The SDK

/// A position of the imaginary SDK; a negative accuracy is unknown.
struct LegacyPosition: Sendable {
    var latitude: Double
    var longitude: Double
    var accuracy: Double
    var seconds: Double
}

/// The imaginary SDK: it calls its listener with each position, or with nil when the position is lost.
final class LegacyReceiver: Sendable {
    private let listener: @Sendable (LegacyPosition?) -> Void
    private let device = Mutex<LegacyDevice?>(nil)

    init(_ listener: @escaping @Sendable (LegacyPosition?) -> Void) { self.listener = listener }

    func start(_ device: LegacyDevice) {
        self.device.withLock { $0 = device }
        device.receivers.withLock { $0.append(self) }
    }

    func stop() {
        let device = device.withLock { $0.take() }
        device?.receivers.withLock { receivers in receivers.removeAll { $0 === self } }
    }

    fileprivate func tell(_ position: LegacyPosition?) { listener(position) }
}

/// The imaginary device, which tests control.
final class LegacyDevice: Sendable {
    fileprivate let receivers = Mutex<[LegacyReceiver]>([])

    var receiverCount: Int { receivers.withLock(\.count) }

    func move(to position: LegacyPosition?) {
        for receiver in receivers.withLock({ $0 }) { receiver.tell(position) }
    }
}

// MARK: Checks

@Suite("Template of a location source over a legacy SDK", .timeLimit(.minutes(2)))
struct LegacyLocationTests {
    private static let features: LocationAdapterSubject.Features = [.searches, .repeats]

    @Test(
        "It passes the conformance checks",
        arguments: LocationAdapterCheck.applicable(to: features)
    )
    func promises(_ check: LocationAdapterCheck) async throws {
        try await check.run(
            on: LocationAdapterSubject(features: Self.features) { _ in
                let device = LegacyDevice()
                return .init(
                    LegacyLocationAdapter(device),
                    userCount: { device.receiverCount },
                    feed: { feed in
                        switch feed {
                        case .fix(let fix):
                            device.move(
                                to: LegacyPosition(
                                    latitude: fix.coordinate.latitude,
                                    longitude: fix.coordinate.longitude,
                                    accuracy: fix.horizontalAccuracy ?? -1,
                                    seconds: fix.time.timeIntervalSince1970
                                )
                            )
                        case .noFix: device.move(to: nil)
                        case .breakConnection, .restoreConnection, .decide: break
                        }
                    }
                )
            }
        )
    }
}
