import KeelAnalytics
import KeelCore
import KeelTestKit
import KeelTestSupport

/// A service on a simulated disk, with a stopped clock.
struct Bench: Sendable {
    let files: SimulatedFileSystem
    let clock = TestClock()
    let time = MutableTime(1_700_000_000_000_000)

    init(_ disk: SimulatedDisk = SimulatedDisk()) { files = SimulatedFileSystem(disk) }

    var configuration: AnalyticsConfiguration {
        var configuration = AnalyticsConfiguration()
        configuration.clock = clock
        configuration.now = { [time] in time.now }
        configuration.defaultConsent = .granted
        configuration.context = AnalyticsContext()
        return configuration
    }

    func service(
        _ destinations: any AnalyticsDestination...,
        change: (inout AnalyticsConfiguration) -> Void = { _ in }
    ) throws -> AnalyticsService {
        var configuration = configuration
        for destination in destinations { configuration.add(destination) }
        change(&configuration)
        return try AnalyticsService(at: "/a", configuration: configuration, files: files)
    }
}

extension AnalyticsRecord {
    /// The name of an event or a screen.
    var name: String? {
        switch kind {
        case .event(let name), .screen(let name): name
        default: nil
        }
    }

    /// The number given by a test.
    var number: Int {
        if case .integer(let number) = properties["number"] { Int(number) } else { -1 }
    }
}
