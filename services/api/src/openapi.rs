//! `GET /openapi.json`: what this api is, for machines (OpenAPI 3.1). Public, because it says what docs/api.md says.
//!
//! What may be asked is derived from the types that requests are read into, where they are types; what every operation has
//! in common (a key, a request's id, the problems of any request) is said in one place. A test compares its paths and methods
//! with the router's.

mod asked;
mod decided;
mod exports;
mod object;
mod operating;
mod operation;
mod shapes;
mod tenants;

use std::sync::LazyLock;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, PathsBuilder, Server};

use operation::Operation;

/// What the way to prove who one is is called.
const API_KEY: &str = "api-key";

static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_json().unwrap_or_default());

/// Answers the document.
pub(crate) async fn openapi() -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=300")];
    (headers, DOCUMENT.as_str()).into_response()
}

fn operations() -> Vec<Operation> {
    [exports::operations(), tenants::operations(), operating::operations()].into_iter().flatten().collect()
}

fn document() -> OpenApi {
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("wbk_…").build();
    let mut components = ComponentsBuilder::new().security_scheme(API_KEY, SecurityScheme::Http(scheme));
    let mut paths = PathsBuilder::new();
    for operation in operations() {
        for (name, schema) in operation.schemas() {
            components = components.schema(name, schema);
        }
        let (path, item) = operation.into_path();
        paths = paths.path(path, item);
    }
    let info = InfoBuilder::new().title("Waybill").version(env!("CARGO_PKG_VERSION")).description(Some(
        "Exports, from an intent to a file. Errors are problems of RFC 9457 whose `code` has a page.",
    ));
    OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new("/")]))
        .components(Some(components.build()))
        .paths(paths)
        .build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    fn whole() -> Value {
        serde_json::from_str(&DOCUMENT).unwrap()
    }

    /// The paths of the router with their methods, as the source declares them.
    fn routed() -> BTreeSet<(String, String)> {
        let router = include_str!("router.rs");
        let routes = router.split(".route(\"").skip(1).map(|rest| rest.split_once('"').unwrap());
        let routes = routes.flat_map(|(path, rest)| {
            let handlers = rest.split("\n        .").next().unwrap();
            let methods = ["get", "post", "patch", "delete"];
            let used = methods.into_iter().filter(|method| handlers.contains(&format!("{method}(")));
            used.map(|method| (path.to_owned(), method.to_owned())).collect::<Vec<_>>()
        });
        routes.collect()
    }

    #[test]
    fn the_document_has_every_path_and_method_of_the_router_and_no_other() {
        let document = whole();
        let paths = document["paths"].as_object().unwrap();
        let described: BTreeSet<(String, String)> = paths
            .iter()
            .flat_map(|(path, item)| {
                let methods = item.as_object().unwrap().keys().filter(|method| *method != "head");
                methods.map(|method| (path.clone(), method.clone())).collect::<Vec<_>>()
            })
            .collect();
        let routed = routed();
        assert!(routed.len() > 40, "{routed:?}");
        assert_eq!(described, routed);
    }

    #[test]
    fn every_reference_of_the_document_leads_somewhere() {
        let document = whole();
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }

    #[test]
    fn every_operation_is_called_otherwise_and_says_how_it_refuses() {
        let document = whole();
        let mut names = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                assert!(names.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
                let responses = operation["responses"].as_object().unwrap();
                let problem = "/content/application~1problem+json/schema";
                for (status, response) in
                    responses.iter().filter(|(status, _)| status.starts_with(['4', '5']))
                {
                    assert!(response.pointer(problem).is_some(), "{method} {path} {status}");
                }
                let is_public = path == "/openapi.json";
                assert_eq!(responses.contains_key("401"), !is_public, "{method} {path}");
            }
        }
    }
}
