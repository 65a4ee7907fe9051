/// The files of a new app outside of its sources.
enum RootTemplates {
    static let all: [AppTemplate] = [
        ignoredFiles,
        package,
        readme,
        lint,
    ]

    static let ignoredFiles = AppTemplate(
        ".gitignore",
        #"""
        .build/
        .swiftpm/
        *.xcodeproj
        xcuserdata/
        .DS_Store

        """#
    )

    /// The beginning of a manifest.
    static let manifestHead = #"""
        // swift-tools-version: 6.2
        import PackageDescription

        /// The settings of every target.
        let strict: [SwiftSetting] =
            [
                "ExistentialAny",
                "InternalImportsByDefault",
                "MemberImportVisibility",
                "NonisolatedNonsendingByDefault",
                "InferIsolatedConformances",
            ].map { .enableUpcomingFeature($0) } + [.treatAllWarnings(as: .error)]

        /// A product of Keel, the infrastructure.
        func keel(_ product: String) -> Target.Dependency { .product(name: product, package: "__package__") }
        """#

    private static let package = AppTemplate(
        "Package.swift",
        #"""
        \#(manifestHead)

        // Each layer is a module, so that the compiler keeps the direction of dependencies:
        // Presentation → Domain ← Data → Keel. Only the composition root sees all of them.
        let package = Package(
            name: "__App__",
            platforms: [.macOS(.v15)],
            products: [.executable(name: "__program__", targets: ["__App__"])],
            dependencies: [__keel__],
            targets: [
                .target(name: "__App__Domain"),
                .target(name: "__App__Presentation", dependencies: ["__App__Domain"]),
                .target(name: "__App__Data", dependencies: ["__App__Domain", keel("KeelStorage")]),
                .executableTarget(
                    name: "__App__",
                    dependencies: ["__App__Domain", "__App__Presentation", "__App__Data", keel("Keel")]
                ),
                .testTarget(
                    name: "__App__Tests",
                    dependencies: [
                        "__App__Domain", "__App__Presentation", "__App__Data", keel("KeelStorage"),
                        keel("KeelTestKit"),
                    ]
                ),
            ]
        )

        for target in package.targets { target.swiftSettings = strict }

        """#
    )

    private static let readme = AppTemplate(
        "README.md",
        #"""
        # __App__

        An app on Keel, with the layers

        ```
        Presentation → Domain ← Data → Keel
        ```

        ```sh
        swift test                       # every layer, and all of them together
        swift run __program__ add Buy milk
        swift run __program__ list
        swift run __program__ watch            # follows every change, also those of other processes
        ```

        | target | contents | imports |
        |---|---|---|
        | `__App__Domain` | entities, use cases, protocols of repositories, `DomainError` | nothing |
        | `__App__Presentation` | the command line | the domain |
        | `__App__Data` | repositories, DTOs, the mapping of errors | the domain and Keel |
        | `__App__` | the composition root, which puts them together | all |

        The backend is one line in `Composition.swift`: an SQLite file in the app's own folder, and with `__VARIABLE___SERVER` a server:

        ```sh
        keel serve --storage sqlite:server.sqlite --port 8080 &
        __VARIABLE___SERVER=http://127.0.0.1:8080 swift run __program__ list
        ```

        `keel-lint.yml` says what the layers may import; `keel lint` checks it.

        """#
    )

    /// The beginning of the rules, with the layers that every app has.
    static let lowerLayers = #"""
        version: 1

        profiles: [clean-architecture, data-layer, services]

        layers:
          - name: Domain
            targets: [__App__Domain]
            uses: []
            modules: [Foundation, Synchronization]
          - name: Data
            targets: [__App__Data]
            uses: [Domain]
            modules: [Foundation, Synchronization, "Keel*"]
        """#

    /// The end of the rules.
    static let contracts = #"""
        contracts:
          - name: backends-in-the-composition
            type: protected
            modules: [Keel, "KeelStorage?*", "KeelAsyncHTTPClient"]
            only-from: [App]
            because: One place decides which backend the app uses.
          - name: no-circles
            type: acyclic
            between: layers
        """#

    private static let lint = AppTemplate(
        "keel-lint.yml",
        #"""
        # The layers of the app: Presentation → Domain ← Data → Keel. `keel lint` checks them; the reason of a rule:
        # keel lint --explain RULE.
        \#(lowerLayers)
          - name: Presentation
            targets: [__App__Presentation]
            uses: [Domain]
            modules: [Foundation, Synchronization]
          - name: App
            targets: [__App__]
            uses: any

        \#(contracts)

        """#
    )
}
