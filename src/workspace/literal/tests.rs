use super::*;
use crate::path::line_and_column;
use proptest::prelude::*;
use serde_json::json;

/// What the default export holds.
fn read(source: &str) -> Result<Map<String, Json>, Problem> {
    super::read(source).map(|module| module.exported)
}

#[test]
fn what_is_passed_over_is_named() {
    let module =
        super::read("export const integrations = [x()]\nconst A = 1\nexport default {a: A}").unwrap();
    assert_eq!(module.skipped, ["integrations"]);
    assert_eq!(Json::Object(module.exported), json!({"a": 1}));
    assert!(super::read("export default {}").unwrap().skipped.is_empty());
}

fn data(source: &str) -> Json {
    match read(source) {
        Ok(object) => Json::Object(object),
        Err(problem) => panic!("{source}: {problem:?}"),
    }
}

#[test]
fn every_vector_is_read_or_refused_as_it_says() {
    let vectors = include_str!("../../../tests/golden/vectors/config-source.json");
    let vectors: Json = serde_json::from_str(vectors).unwrap();
    let cases = |list: &str| vectors[list].as_array().unwrap().clone();
    for case in cases("accepted") {
        assert_eq!(data(case["source"].as_str().unwrap()), case["data"], "{}", case["name"]);
    }
    for case in cases("refused") {
        let wanted = match case["code"].as_str().unwrap() {
            "CONFIG_SYNTAX_UNSUPPORTED" => Reason::Unsupported,
            _ => Reason::Invalid,
        };
        assert_eq!(read(case["source"].as_str().unwrap()).unwrap_err().reason, wanted, "{}", case["name"]);
    }
    assert_eq!((cases("accepted").len(), cases("refused").len()), (11, 7));
}

#[test]
fn values_mean_what_javascript_makes_of_them() {
    for (source, wanted) in [
        ("1 + 2 * 3 - 8 / 4", json!(5)),
        ("2 * (3 + 4)", json!(14)),
        ("- -1", json!(1)),
        ("-(-0)", json!(0)),
        ("0xfF", json!(255)),
        ("1_000.5e-1", json!(100.05)),
        (".5", json!(0.5)),
        ("5.", json!(5)),
        ("0.1 + 0.2", json!(0.300_000_000_000_000_04)),
        ("9007199254740993", json!(9_007_199_254_740_992_i64)),
        ("1 / (1 / 0)", Json::Null),
        ("[undefined, null,]", json!([null, null])),
        ("`a\r\nb$c`", json!("a\nb$c")),
        (
            r"'\u{1F600}\ud83d\ude00\0\v\
x\q'",
            json!("😀😀\0\u{b}xq"),
        ),
        ("/* c */ 'x' // d", json!("x")),
    ] {
        let read = read(&format!("export default {{ x: {source}\n}}"));
        if wanted.is_null() {
            assert_eq!(read.unwrap_err().reason, Reason::Unsupported, "{source}");
        } else {
            assert_eq!(read.unwrap()["x"], wanted, "{source}");
        }
    }
    let keys =
        data("export default { 0x10: 1, 1e21: 2, 1.50: 3, 1e-7: 4, default: 5, $é_: 6, __proto__: 7 }");
    let keys: Vec<&String> = keys.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["16", "1e+21", "1.5", "1e-7", "default", "$é_", "__proto__"]);
    assert_eq!(data("export default { a: 1, b: 2, a: undefined }"), json!({"b": 2}));
    assert_eq!(data("export default { a: undefined, a: 1 }"), json!({"a": 1}));
}

#[test]
fn whole_modules_are_read() {
    for (source, wanted) in [
        ("", json!({})),
        (";;", json!({})),
        (
            "import a, { b as c, 'd' as e } from 'x' with { type: 'json' }\nimport * as f from \"y\"\nimport 'z'",
            json!({}),
        ),
        ("const A = 1, B = 'b'\nconst C = { a: A, b: B }\nexport default C", json!({"a": 1, "b": "b"})),
        ("export const LIMIT = 2 * 1024;\nexport default { n: LIMIT * 2 };", json!({"n": 4096})),
        ("const c = defineProject(Object.freeze({ a: 1 },),);\nexport default c", json!({"a": 1})),
        ("export default /** @type {X} */ ({ a: 1 });", json!({"a": 1})),
        (
            "export const integrations = [\n  make(`a${`}` + '}'}b`, /[/']/g, x => ({ a: x }), 4 / 2, \"]\"), // ]\n]\nexport default { a: 1 }",
            json!({"a": 1}),
        ),
        (
            "export const integrations = await load('x')\nconst A = 1\nexport default { a: A }",
            json!({"a": 1}),
        ),
    ] {
        assert_eq!(data(source), wanted, "{source}");
    }
}

#[test]
fn unsupported_and_invalid_are_told_apart_and_placed() {
    use Reason::{Invalid, Unsupported};
    for (source, reason, line, column, found) in [
        ("export default {\n  name: process.env.NAME };", Unsupported, 2, 9, "process"),
        ("export default { a };", Unsupported, 1, 18, "a"),
        ("export default { get a() { return 1 } };", Unsupported, 1, 18, "get"),
        ("export default { *a() {} };", Unsupported, 1, 18, "*"),
        ("export default { a: [1,,2] };", Unsupported, 1, 24, ","),
        ("export default { a: 'x' + 'y' };", Unsupported, 1, 25, "+"),
        ("export default { a: 1 + 'y' };", Unsupported, 1, 25, "+"),
        ("export default { a: -'y' };", Unsupported, 1, 21, "-"),
        ("export default { a: 2 ** 3 };", Unsupported, 1, 23, "**"),
        ("export default { a: 1 ? 2 : 3 };", Unsupported, 1, 23, "?"),
        ("export default { a: /x/ };", Unsupported, 1, 21, "/"),
        ("export default { a: 10n };", Unsupported, 1, 21, "10n"),
        ("export default { a: 0b1 };", Unsupported, 1, 21, "0b1"),
        ("export default { a: 0 / 0 };", Unsupported, 1, 21, "NaN"),
        ("export default { a: 1e999 };", Unsupported, 1, 21, "Infinity"),
        ("export default { a: NaN };", Unsupported, 1, 21, "NaN"),
        ("export default { a: '\\ud800' };", Unsupported, 1, 22, "\\ud800"),
        ("export default {}\n[0]", Unsupported, 2, 1, "["),
        ("export default () => ({})", Unsupported, 1, 17, ")"),
        ("export default { a: b }; const b = 1", Unsupported, 1, 21, "b"),
        ("export default { a: (1, 2) }", Unsupported, 1, 23, ","),
        ("export default Object.assign({})", Unsupported, 1, 16, "Object.assign"),
        ("export default { a: defineProject({}) }", Unsupported, 1, 21, "defineProject"),
        ("export { a as default };", Unsupported, 1, 8, "{"),
        ("export let a = 1;", Unsupported, 1, 8, "let"),
        ("import('x');", Unsupported, 1, 7, "("),
        ("const { a } = {};", Unsupported, 1, 7, "{"),
        ("module.exports = {};", Unsupported, 1, 1, "module"),
        ("\"use strict\";", Unsupported, 1, 1, "\"use strict\""),
        ("export default { é: 'é', a: }", Invalid, 1, 29, "}"),
        ("export default { a: 1 b: 2 }", Invalid, 1, 23, "b"),
        ("export default { a: 'x\n' }", Invalid, 1, 21, "a string without its end"),
        ("export default { a: 012 }", Invalid, 1, 21, "012"),
        ("export default { a: 1__0 }", Invalid, 1, 21, "1__0"),
        ("export default { a: 3px }", Invalid, 1, 21, "3px"),
        ("export default { a: '\\08' }", Invalid, 1, 22, "\\0"),
        ("export default { a: '\\x4' }", Invalid, 1, 22, "\\x"),
        ("export default { 'a' }", Invalid, 1, 22, "}"),
        ("export default { a: const }", Invalid, 1, 21, "const"),
        ("export default {}\n!x", Unsupported, 2, 1, "!"),
        ("export default {}\n{}", Unsupported, 2, 1, "{"),
        ("export default { a: 1 !b }", Invalid, 1, 23, "!"),
        ("export default {} {}", Invalid, 1, 19, "{"),
        ("export default {}; export default {};", Invalid, 1, 20, "a second export default"),
        ("const a = 1; const a = 2;", Invalid, 1, 20, "a a second time"),
        ("const a;", Invalid, 1, 8, ";"),
        ("/* x", Invalid, 1, 1, "a comment without its end"),
        ("export default", Invalid, 1, 15, "the end of the file"),
        ("export default []", Invalid, 1, 16, "["),
        ("export const integrations = [] export default {}", Invalid, 1, 32, "export"),
        ("export const integrations = [", Invalid, 1, 30, "the end of the file"),
        ("export const integrations = (]", Invalid, 1, 30, "]"),
        ("}", Invalid, 1, 1, "}"),
    ] {
        let problem = read(source).unwrap_err();
        let (at_line, at_column) = line_and_column(source, problem.at);
        let got = (problem.reason, at_line, at_column, problem.found.as_str());
        assert_eq!(got, (reason, line, column, found), "{source}");
    }
}

#[test]
fn size_and_nesting_are_limited() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("export default {{ x: {}1{} }}", open.repeat(levels), close.repeat(levels))
    };
    for (open, close) in [("[", "]"), ("{ a: ", "}"), ("(", ")")] {
        assert!(read(&nested(open, close, NESTING - 1)).is_ok(), "{open}");
        for levels in [NESTING, 200_000 / open.len()] {
            let problem = read(&nested(open, close, levels)).unwrap_err();
            assert_eq!(
                (problem.reason, &*problem.found),
                (Reason::Unsupported, "nesting of more than 64 levels")
            );
        }
    }
    assert!(read(&format!("export default {{ x: {}1 }}", "- ".repeat(100_000))).is_ok());
    assert_eq!(read(&" ".repeat(SOURCE_BYTES)).unwrap(), Map::new());
    assert_eq!(read(&" ".repeat(SOURCE_BYTES + 1)).unwrap_err().reason, Reason::Unsupported);
}

#[test]
fn constants_of_constants_grow_neither_deep_nor_large() {
    let chain = |body: &str| {
        let next = |n: i32| format!("const a{n} = {};", body.replace('@', &format!("a{}", n - 1)));
        let rest: String = (1..1000).map(next).collect();
        format!("const a0 = [1];{rest}export default {{ x: a999 }};")
    };
    assert_eq!(read(&chain("[@]")).unwrap_err().found, "nesting of more than 64 levels");
    let doubling =
        "const a0 = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; const a1 = [a0, a0, a0, a0, a0, a0, a0, a0];";
    let many = (2..30).map(|n| format!("const a{n} = [{0}, {0}, {0}, {0}];", format!("a{}", n - 1)));
    let source = format!("{doubling}{}export default {{ x: a29 }};", many.collect::<String>());
    assert_eq!(read(&source).unwrap_err().found, "constants that expand to more than 1 MiB");
}

/// Any JSON value, a few levels deep.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-(1_i64 << 53)..=1 << 53).prop_map(Json::from),
        any::<f64>().prop_filter_map("finite, and no whole number", |number| {
            (number.is_finite() && number.fract() != 0.0).then(|| json!(number))
        }),
        ".*".prop_map(Json::String),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec((".*", inner), 0..6)
                .prop_map(|pairs| Json::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_object_printed_as_javascript_is_read_back(pairs in prop::collection::vec(("[a-z\"'`$\\\\{} ]{0,6}", any_json()), 0..6)) {
        let object: Map<String, Json> = pairs.into_iter().collect();
        let printed = serde_json::to_string_pretty(&object).unwrap();
        prop_assert_eq!(read(&format!("export default {printed};\n")), Ok(object));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,200}") {
        let _ = read(&text).map_err(|problem| line_and_column(&text, problem.at));
    }

    #[test]
    fn no_rearranged_configuration_makes_the_reader_panic(
        pieces in prop::collection::vec(prop::sample::select(&[
            "export default ", "{", "}", "[", "]", "(", ")", "a", ":", ",", ";", "\n", "const ", "=", "1", "'x'", "`", "${", "\\",
            "\\u", "'", "\"", "/", "*", "//", "/*", "*/", "-", "+", ".", "...", "import ", "from ", "0x", "1_", "e",
            "integrations", "export const integrations = ", "Object", "freeze", "defineProject", "é", "\u{feff}", "\r",
        ][..]), 0..40),
    ) {
        let text = pieces.concat();
        if let Err(problem) = read(&text) {
            prop_assert!(text.is_char_boundary(problem.at), "{problem:?}");
        }
    }
}
