/// The dependencies of the running code: what was set for it, and each key's default for the rest.
///
/// A value, never shared: `withDependencies(_:operation:)` changes a copy and makes the copy
/// ``current`` for one operation. Child tasks, task groups and `Task { }` inherit it; see
/// <doc:KeelDependencies> for code that does not.
///
/// Extend it with one property for each key; ``DependencyKey`` shows how.
public struct DependencyValues: Sendable {
    /// The dependencies of the code that asks.
    public static var current: Self { taskLocal }

    @TaskLocal package static var taskLocal = Self()

    /// A value that was set, and how many operations deep.
    private struct Entry: Sendable {
        let value: any Sendable
        let depth: Int
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// What was set around the object that now reads, when that object was made.
    private var entriesOfReader: [ObjectIdentifier: Entry] = [:]
    private var depth = 0
    private var locationOfReader: DependencyLocation?

    /// The value of a key: the one that was set, or the key's default in this context.
    public subscript<Key: DependencyKey>(
        key: Key.Type,
        fileID: String = #fileID,
        filePath: String = #filePath,
        line: Int = #line,
        column: Int = #column
    ) -> Key.Value {
        get {
            if let value = setValue(of: key) {
                return value
            }
            let location = DependencyLocation(
                fileID: fileID,
                filePath: filePath,
                line: line,
                column: column
            )
            return defaultValue(of: key, readAt: locationOfReader ?? location)
        }
        set {
            entries[ObjectIdentifier(key)] = Entry(value: newValue, depth: depth)
        }
    }

    /// Decides which of a key's values is its default.
    public var context: DependencyContext {
        get { setValue(of: ContextKey.self) ?? .ofProcess }
        set { self[ContextKey.self] = newValue }
    }

    /// Where the reading of an unset key is reported.
    ///
    /// In tests that use `KeelDependenciesTesting` the running test; otherwise the process stops
    /// with the message, so that no unset value passes unseen. With XCTest, set it around the
    /// test: `$0.issueReporter = DependencyIssueReporter { XCTFail($0.message) }`.
    public var issueReporter: DependencyIssueReporter {
        get { setValue(of: ReporterKey.self) ?? .ofProcess }
        set { self[ReporterKey.self] = newValue }
    }

    var location: DependencyLocation? { locationOfReader }
}

extension DependencyValues {
    /// These values for an operation inside the present one.
    package func nested(_ update: (inout Self) -> Void) -> Self {
        var values = self
        values.beginNested()
        update(&values)
        values.endNested()
        return values
    }

    /// Starts a nested operation: what is set from here on wins over everything around it.
    package mutating func beginNested() {
        depth += 1
    }

    /// Ends the set-up of a nested operation.
    ///
    /// The outermost operation of a test owns the test values made in it.
    package mutating func endNested() {
        if context == .test, setValue(of: TestCacheKey.self) == nil {
            self[TestCacheKey.self] = ValueCache()
        }
    }

    /// These values, completed by those that were current when the reader was made.
    ///
    /// Where both set a key, the innermost setting wins; at equal depth the one around the
    /// reading. So an object made inside an override keeps it when it is used outside, and an
    /// override around one use still reaches an object made before.
    func seen(by reader: Self, at location: DependencyLocation) -> Self {
        var values = self
        values.entriesOfReader = reader.entries
        values.locationOfReader = location
        return values
    }

    private func setValue<Key: DependencyKey>(of key: Key.Type) -> Key.Value? {
        let id = ObjectIdentifier(key)
        var innermost = entries[id]
        if let ofReader = entriesOfReader[id], ofReader.depth > innermost?.depth ?? -1 {
            innermost = ofReader
        }
        // Unwrapped before the cast: a missing value would pass for one whose type is optional.
        guard let innermost else { return nil }
        return innermost.value as? Key.Value
    }

    private func defaultValue<Key: DependencyKey>(
        of key: Key.Type,
        readAt location: DependencyLocation
    ) -> Key.Value {
        switch context {
        case .live:
            return ValueCache.live.value(of: key) {
                Self.untouched(.live) { Key.liveValue }
            }
        case .preview:
            return ValueCache.preview.value(of: key) {
                Self.untouched(.preview) { Key.previewValue }
            }
        case .test:
            var values = self
            values.locationOfReader = location
            let make = { Self.$taskLocal.withValue(values) { Key.testValue } }
            guard let cache = setValue(of: TestCacheKey.self) else { return make() }
            return cache.value(of: key, make: make)
        }
    }

    /// Makes a value that belongs to the whole process, out of reach of every override.
    private static func untouched<Value>(
        _ context: DependencyContext,
        _ make: () -> Value
    ) -> Value {
        var values = Self()
        values.context = context
        return $taskLocal.withValue(values, operation: make)
    }
}

private enum ContextKey: DependencyKey {
    static var liveValue: DependencyContext { .ofProcess }
}

private enum ReporterKey: DependencyKey {
    static var liveValue: DependencyIssueReporter { .ofProcess }
}

/// The test values made so far in the test that is running.
private enum TestCacheKey: DependencyKey {
    static var liveValue: ValueCache { ValueCache() }
}
