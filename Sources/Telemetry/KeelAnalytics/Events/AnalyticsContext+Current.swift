#if canImport(FoundationEssentials) && !canImport(Darwin)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

extension AnalyticsContext {
    /// The context of this process.
    ///
    /// Only on Apple platforms does it include the app's version and build; elsewhere, set ``appVersion`` and
    /// ``appBuild``.
    public static var current: AnalyticsContext {
        var context = AnalyticsContext()
        let version = ProcessInfo.processInfo.operatingSystemVersion
        context.systemVersion =
            "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
        context.systemName = systemName
        context.deviceModel = model
        context.locale = Locale.current.identifier(.bcp47)
        context.timeZone = TimeZone.current.identifier
        #if canImport(Darwin)
        let information = Bundle.main.infoDictionary ?? [:]
        context.appName =
            information["CFBundleName"] as? String ?? ProcessInfo.processInfo.processName
        context.appVersion = information["CFBundleShortVersionString"] as? String
        context.appBuild = information["CFBundleVersion"] as? String
        #else
        context.appName = ProcessInfo.processInfo.processName
        #endif
        return context
    }

    private static var systemName: String {
        #if os(iOS)
        "iOS"
        #elseif os(macOS)
        "macOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #elseif os(Android)
        "Android"
        #else
        "Linux"
        #endif
    }

    private static var model: String? {
        var system = utsname()
        guard uname(&system) == 0 else { return nil }
        return withUnsafeBytes(of: system.machine) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
