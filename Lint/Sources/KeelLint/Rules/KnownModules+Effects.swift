extension KnownModules {
    package struct Effect: Sendable {
        /// A path such as `Date.now`; its members match as well.
        package let path: String
        /// The matching forms of calls, in which case members do not match; empty for all.
        package let calls: Set<String>
        package let instead: String
    }

    package static let effects: [Effect] = [
        Effect(
            path: "Date",
            calls: ["()"],
            instead: "a clock that is passed in; with Keel `@Dependency(\\.date)`"
        ),
        Effect(
            path: "Date.init",
            calls: ["()"],
            instead: "a clock that is passed in; with Keel `@Dependency(\\.date)`"
        ),
        Effect(
            path: "Date.now",
            calls: [],
            instead: "a clock that is passed in; with Keel `@Dependency(\\.date)`"
        ),
        Effect(
            path: "NSDate",
            calls: ["()"],
            instead: "a clock that is passed in; with Keel `@Dependency(\\.date)`"
        ),
        Effect(
            path: "UUID",
            calls: ["()"],
            instead: "a source of ids that is passed in; with Keel `@Dependency(\\.uuid)`"
        ),
        Effect(
            path: "UUID.init",
            calls: ["()"],
            instead: "a source of ids that is passed in; with Keel `@Dependency(\\.uuid)`"
        ),
        Effect(
            path: "NSUUID",
            calls: ["()"],
            instead: "a source of ids that is passed in; with Keel `@Dependency(\\.uuid)`"
        ),
        Effect(
            path: "ContinuousClock",
            calls: [],
            instead: "`any Clock<Duration>` that is passed in"
        ),
        Effect(
            path: "SuspendingClock",
            calls: [],
            instead: "`any Clock<Duration>` that is passed in"
        ),
        Effect(path: "DispatchTime.now", calls: [], instead: "a clock that is passed in"),
        Effect(path: "CFAbsoluteTimeGetCurrent", calls: [], instead: "a clock that is passed in"),
        Effect(path: "CACurrentMediaTime", calls: [], instead: "a clock that is passed in"),
        Effect(
            path: "Task.sleep",
            calls: [],
            instead: "`clock.sleep` of a clock that is passed in"
        ),
        Effect(
            path: "Thread.sleep",
            calls: [],
            instead: "`clock.sleep` of a clock that is passed in"
        ),
        Effect(path: "sleep", calls: [], instead: "`clock.sleep` of a clock that is passed in"),
        Effect(path: "usleep", calls: [], instead: "`clock.sleep` of a clock that is passed in"),
        Effect(path: "Calendar.current", calls: [], instead: "a calendar that is passed in"),
        Effect(path: "Locale.current", calls: [], instead: "a locale that is passed in"),
        Effect(path: "TimeZone.current", calls: [], instead: "a time zone that is passed in"),
        Effect(
            path: "SystemRandomNumberGenerator",
            calls: [],
            instead: "a generator that is passed in"
        ),
        Effect(
            path: "*.random",
            calls: ["()", "(…)"],
            instead: "`random(in:using:)` with a generator that is passed in"
        ),
        Effect(path: "arc4random", calls: [], instead: "a generator that is passed in"),
        Effect(path: "arc4random_uniform", calls: [], instead: "a generator that is passed in"),
        Effect(
            path: "URLSession",
            calls: [],
            instead: "a protocol of the domain; behind it Keel's `NetworkClient`"
        ),
        Effect(
            path: "FileManager",
            calls: [],
            instead: "a protocol of the domain; behind it Keel's `FileStore`"
        ),
        Effect(
            path: "FileHandle",
            calls: [],
            instead: "a protocol of the domain; behind it Keel's `FileStore`"
        ),
        Effect(
            path: "UserDefaults",
            calls: [],
            instead: "a protocol of the domain; behind it Keel's `StorageClient`"
        ),
        Effect(
            path: "NotificationCenter.default",
            calls: [],
            instead: "an `AsyncSequence` that is passed in"
        ),
        Effect(
            path: "ProcessInfo",
            calls: [],
            instead: "a value that the composition root passes in"
        ),
        Effect(
            path: "Bundle.main",
            calls: [],
            instead: "a value that the composition root passes in"
        ),
        Effect(
            path: "CLLocationManager",
            calls: [],
            instead: "a protocol of the domain; behind it Keel's `LocationService`"
        ),
        Effect(
            path: "SecItem*",
            calls: [],
            instead: "a protocol of the domain; behind it Keel's `SecretStore`"
        ),
        Effect(path: "getenv", calls: [], instead: "a value that the composition root passes in"),
        Effect(
            path: "print",
            calls: [],
            instead: "a result or an error; where it must be logged, a `Logger` of the outer layers"
        ),
        Effect(
            path: "debugPrint",
            calls: [],
            instead: "a result or an error; where it must be logged, a `Logger` of the outer layers"
        ),
        Effect(
            path: "dump",
            calls: [],
            instead: "a result or an error; where it must be logged, a `Logger` of the outer layers"
        ),
        Effect(
            path: "NSLog",
            calls: [],
            instead: "a result or an error; where it must be logged, a `Logger` of the outer layers"
        ),
        Effect(
            path: "os_log",
            calls: [],
            instead: "a result or an error; where it must be logged, a `Logger` of the outer layers"
        ),
    ]
}
