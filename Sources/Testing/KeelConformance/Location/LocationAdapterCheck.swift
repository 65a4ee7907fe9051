internal import KeelLocation
public import Testing

/// A promise of `LocationAdapter` as a check for any adapter.
///
/// Run all applicable checks as arguments, so that each is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: LocationAdapterCheck.applicable(to: [.searches, .details]))
/// func keepsItsPromises(_ check: LocationAdapterCheck) async throws {
///     try await check.run(on: Self.subject)
/// }
/// ```
public struct LocationAdapterCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// The capabilities of a source.
        case capabilities
        /// Coordinates.
        case coordinates
        /// Accuracies, altitude, speed, course and time.
        case details
        /// The order of reports.
        case order
        /// A receiver without a position.
        case searching
        /// Concurrent monitorings.
        case sharing
        /// The end of a monitoring and the release of its resources.
        case ending
        /// A broken connection.
        case connection
        /// The user's permission.
        case permission
        /// The adapter behind a `LocationService`.
        case service
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the source.
    public let promise: String
    /// The features that the promise requires.
    public let needs: LocationAdapterSubject.Features

    private let permission: LocationPermission
    private let answer: LocationPermission?
    private let body: @Sendable (LocationUnderTest) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        needs: LocationAdapterSubject.Features = [],
        permission: LocationPermission = .whenInUse,
        answering answer: LocationPermission? = nil,
        _ body: @escaping @Sendable (LocationUnderTest) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.needs = needs
        self.permission = permission
        self.answer = answer
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Runs the check on a source, recording an issue for each violation.
    ///
    /// - Throws: An error of the source that the promise does not allow.
    public func run(on subject: LocationAdapterSubject) async throws {
        let setting = LocationAdapterSubject.Setting(permission: permission, answer: answer)
        let source = try await subject.open(setting)
        let test = LocationUnderTest(subject: subject, source: source)
        do {
            try await body(test)
        } catch {
            test.endAll()
            await source.close()
            throw error
        }
        test.endAll()
        await source.close()
    }

    /// Returns the checks that apply to a source with these features.
    public static func applicable(to features: LocationAdapterSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        capabilities, coordinates, details, order, searching, sharing, ending, connection,
        permission, service,
    ].flatMap { $0 }
}
