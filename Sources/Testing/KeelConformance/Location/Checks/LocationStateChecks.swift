import KeelCore
import KeelLocation
import Testing

extension LocationAdapterCheck {
    package static let connection: [Self] = [
        Self(.connection, "a broken connection is reported as transient", needs: .breaks) {
            test async throws in
            let reports = try await test.monitor()
            try await breakConnection(test, reports)
            #expect(reports.failures.first?.code == .disconnected)
            #expect(reports.failures.first?.isTransient == true)
        },
        Self(.connection, "fixes resume when the connection is restored", needs: .breaks) {
            test async throws in
            let reports = try await test.monitor()
            for second in 0..<3 {
                try await test.fix(placeFix(1, 2, second: second), seenBy: reports)
                try await breakConnection(test, reports)
                try await restoreConnection(test, reports)
            }
            try await test.fix(placeFix(1, 2, second: 3), seenBy: reports)
        },
        Self(.connection, "a source that was unreachable is found later", needs: .breaks) {
            test async throws in
            try await test.source.feed(.breakConnection)
            let reports = try await test.monitor()
            #expect(reports.failures.first?.code == .disconnected)
            try await restoreConnection(test, reports)
            try await test.fix(placeFix(1, 2), seenBy: reports)
        },
        Self(.connection, "monitoring can be ended while the connection is broken", needs: .breaks)
        {
            test async throws in
            let reports = try await test.monitor()
            try await breakConnection(test, reports)
            reports.end()
            try await test.source.feed(.restoreConnection)
            let other = try await test.monitor()
            try await test.fix(placeFix(1, 2), seenBy: other)
            #expect(reports.fixes.isEmpty)
            other.end()
            try await test.waitForNoUsers()
        },
    ]

    private static func breakConnection(
        _ test: LocationUnderTest,
        _ reports: LocationReports
    ) async throws {
        let count = reports.failures.count
        try await test.source.feed(.breakConnection)
        try await reports.wait("a failure") { _ in reports.failures.count > count }
    }

    private static func restoreConnection(
        _ test: LocationUnderTest,
        _ reports: LocationReports
    ) async throws {
        let count = reports.searchingCount
        try await test.source.feed(.restoreConnection)
        try await reports.wait("a connection") { _ in reports.searchingCount > count }
    }

    package static let permission: [Self] = [
        Self(
            .permission,
            "the user is not asked without a permission request",
            needs: .permission,
            permission: .notDetermined,
            answering: .whenInUse
        ) { test async throws in
            _ = await test.adapter.capabilities()
            let reports = try await test.monitor()
            #expect(reports.failures.first?.code == .permissionNotDetermined)
            #expect(await test.adapter.permission() == .notDetermined)
        },
        Self(
            .permission,
            "the user's answer is returned and persists",
            needs: .permission,
            permission: .notDetermined,
            answering: .whenInUse
        ) { test async throws in
            for _ in 0..<2 {
                #expect(try await test.adapter.requestPermission(.whenInUse) == .whenInUse)
            }
            #expect(await test.adapter.permission() == .whenInUse)
        },
        Self(
            .permission,
            "a denial is an answer, not an error",
            needs: .permission,
            permission: .notDetermined,
            answering: .denied
        ) { test async throws in
            #expect(try await test.adapter.requestPermission(.whenInUse) == .denied)
            #expect(await test.adapter.capabilities().problem == .permissionDenied)
        },
        Self(
            .permission,
            "a denial is reported to the monitor",
            needs: .permission,
            permission: .denied
        ) { test async throws in
            let reports = try await test.monitor()
            #expect(reports.failures.first?.code == .permissionDenied)
            #expect(reports.fixes.isEmpty)
        },
        Self(
            .permission,
            "a device restriction has its own error code",
            needs: .permission,
            permission: .restricted
        ) { test async throws in
            let reports = try await test.monitor()
            #expect(reports.failures.first?.code == .permissionRestricted)
        },
        Self(.permission, "a revoked permission is reported", needs: .permission) {
            test async throws in
            let reports = try await test.monitor()
            try await test.fix(placeFix(1, 2), seenBy: reports)
            try await test.source.feed(.decide(.denied))
            try await reports.wait("the refusal") { _ in !reports.failures.isEmpty }
            #expect(reports.failures.last?.code == .permissionDenied)
        },
        Self(
            .permission,
            "fixes begin when permission is granted later",
            needs: .permission,
            permission: .denied
        ) { test async throws in
            let reports = try await test.monitor()
            try await test.source.feed(.decide(.whenInUse))
            try await reports.wait("a search") { _ in reports.searchingCount > 0 }
            try await test.fix(placeFix(1, 2), seenBy: reports)
        },
    ]

    package static let service: [Self] = [
        Self(.service, "the current location is found") { test async throws in
            let location = LocationService(test.adapter)
            async let found = location.currentLocation(timeout: test.limit)
            try await test.waitForUsers(1)
            try await test.source.feed(.fix(placeFix(1, 2)))
            #expect(try await found.coordinate.longitude == 2)
            try await test.waitForNoUsers()
        },
        Self(.service, "the state changes from searching to a fix to a lost fix", needs: .searches)
        {
            test async throws in
            let location = LocationService(test.adapter)
            var states = location.states.makeAsyncIterator()
            #expect(await states.next() == .searching)
            try await test.waitForUsers(1)
            try await test.source.feed(.fix(placeFix(1, 2)))
            #expect(await states.next()?.fix?.coordinate.longitude == 2)
            try await test.source.feed(.noFix)
            guard case .lost(_, because: .signalLost)? = await states.next() else {
                Issue.record("the state is \(String(describing: location.state))")
                return
            }
        },
        Self(.service, "monitoring ends when the last listener leaves") { test async throws in
            let location = LocationService(test.adapter)
            try await location.startMonitoring()
            let reading = Task { for try await _ in location.fixes() { return } }
            try await test.waitForUsers(1)
            try await test.source.feed(.fix(placeFix(1, 2)))
            try await reading.value
            #expect(await test.source.userCount() == 1)
            location.stopMonitoring()
            try await test.waitForNoUsers()
            #expect(location.state == nil)
            #expect(location.lastFix?.coordinate.longitude == 2)
        },
    ]
}
