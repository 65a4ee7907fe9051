internal import KeelLocation
public import Testing

/// One promise of `LocationAdapter`, as a check that any adapter can be put to.
///
/// Run all of them that apply, so that each promise is a line of its own in the log:
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
        /// What a source says of itself.
        case capabilities
        /// Places of every kind.
        case coordinates
        /// Accuracies, altitude, speed, course and time.
        case details
        /// What comes after what.
        case order
        /// A receiver without a position.
        case searching
        /// Several who monitor.
        case sharing
        /// What comes after the end, and what is held.
        case ending
        /// A connection that breaks.
        case connection
        /// What the user decides.
        case permission
        /// What the front makes of it.
        case service
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the source.
    public let promise: String
    /// What a source must be able to do for the promise to concern it.
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

    /// Puts a source to the check, recording an issue with the current test for each violation.
    ///
    /// - Parameter subject: How to open the source.
    /// - Throws: What the source throws where the promise leaves it no reason to.
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

    /// The checks that concern a source with these features.
    ///
    /// - Parameter features: What the source can do.
    /// - Returns: The checks.
    public static func applicable(to features: LocationAdapterSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        capabilities, coordinates, details, order, searching, sharing, ending, connection,
        permission, service,
    ].flatMap { $0 }
}
