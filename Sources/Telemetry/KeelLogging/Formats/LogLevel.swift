#if Logging

public import Logging

extension Logger.Level {
    /// The level in capitals, as in lines of text: `critical` is `FATAL`.
    public var title: String { "\(titleText)" }

    var titleText: StaticString {
        switch self {
        case .trace: "TRACE"
        case .debug: "DEBUG"
        case .info: "INFO"
        case .notice: "NOTICE"
        case .warning: "WARNING"
        case .error: "ERROR"
        case .critical: "FATAL"
        }
    }

    /// The level as one symbol, as in lines of text in a terminal.
    public var symbol: String { "\(symbolText)" }

    var symbolText: StaticString {
        switch self {
        case .trace: "👣"
        case .debug: "🔍"
        case .info: "ℹ️"
        case .notice: "📌"
        case .warning: "⚠️"
        case .error: "❌"
        case .critical: "💀"
        }
    }
}

#endif
